import type { Logger } from 'pino'
import type { RedisClient } from '../platform/redis.ts'
import { inProcessSignals, type Signals } from '../platform/signals.ts'
import { openRedisSignals } from '../platform/signals-redis.ts'
import type { WakeUps } from '../schemas/wake-ups.ts'

/** So that a message stays small; who waits for a key past these finds it at their next own look. */
const maxKeys = 500

export type SignalsOptions = { redis: RedisClient | null; prefix: string; logger: Logger }

/** Between processes by Redis, where one is named; within this one otherwise. */
export async function openSignals(options: SignalsOptions): Promise<Signals<WakeUps>> {
  const { redis, prefix, logger } = options
  if (redis === null) return inProcessSignals()
  return openRedisSignals<WakeUps>({
    redis,
    prefix,
    logger,
    channels: {
      projected: ({ projection, keys }) => ({ projection, keys: keys.slice(0, maxKeys) }),
      access: message => message,
      maintenance: message => message,
    },
  })
}
