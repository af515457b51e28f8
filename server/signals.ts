import type { Logger } from 'pino'
import type { RedisClient } from '../platform/redis.ts'
import { inProcessSignals, type Signals } from '../platform/signals.ts'
import { openRedisSignals } from '../platform/signals-redis.ts'
import type { WakeUps } from '../schemas/wake-ups.ts'

/** Keeps messages small. A truncated one does not say so: listeners find the remaining keys at their next poll. */
const maxKeys = 500

export type SignalsOptions = { redis: RedisClient | null; prefix: string; logger: Logger }

/** Signals between processes through Redis if configured, else within this process. */
export async function openSignals(options: SignalsOptions): Promise<Signals<WakeUps>> {
  const { redis, prefix, logger } = options
  if (redis === null) return inProcessSignals()
  return openRedisSignals<WakeUps>({
    redis,
    prefix,
    logger,
    channels: {
      projected: message =>
        message.keys.length <= maxKeys
          ? message
          : { ...message, keys: message.keys.slice(0, maxKeys), upTo: message.after },
      access: message => message,
      maintenance: message => message,
      serving: message => message,
    },
  })
}
