import type { Logger } from 'pino'
import { promptly, type RedisClient } from './redis.ts'
import { inProcessSignals, type Signals } from './signals.ts'

export type RedisSignalsOptions<M> = {
  redis: RedisClient
  prefix: string
  logger: Logger
  /** For each channel, reduces a message to what other processes need. */
  channels: { [C in keyof M]: (message: M[C]) => M[C] }
}

/**
 * Wake-ups between the processes of an installation, one Redis message each. A lost message only costs time, because
 * readers also poll; so nothing here fails a caller.
 */
export async function openRedisSignals<M extends Record<string, object>>(
  options: RedisSignalsOptions<M>,
): Promise<Signals<M>> {
  const { redis, prefix, logger, channels } = options
  const local = inProcessSignals<M>()
  // A subscribed connection cannot send commands.
  const subscriber = redis.duplicate()
  const away = (error: unknown) => logger.debug({ err: error }, 'redis is away')
  subscriber.on('error', away)
  const self = crypto.randomUUID()
  const tellOthers = (channel: string, message: object) => {
    redis
      .publish(`${prefix}.${channel}`, JSON.stringify({ ...message, from: self }))
      .catch(error => logger.debug({ err: error }, 'a wake-up was lost'))
  }
  const hearOthers = <C extends keyof M & string>(channel: C) =>
    subscriber.subscribe(`${prefix}.${channel}`, text => {
      const { from, ...message } = JSON.parse(text) as M[C] & { from: string }
      if (from !== self) local.publish(channel, message as unknown as M[C])
    })
  const listen = async () => {
    for (const channel of Object.keys(channels)) await hearOthers(channel)
  }
  // Once subscribed, the client subscribes again after each loss of the connection.
  const listening = new Promise<void>(resolve => {
    let isListening = false
    subscriber.on('ready', () => {
      if (!isListening)
        listen().then(() => {
          isListening = true
          resolve()
        }, away)
    })
  })
  subscriber.connect().catch(away)
  // A start does not wait for an unreachable Redis.
  await promptly(listening).catch(away)
  return {
    publish(channel, message) {
      local.publish(channel, message)
      tellOthers(channel, channels[channel](message))
    },
    subscribe: local.subscribe,
    async close() {
      await local.close()
      subscriber.destroy()
    },
  }
}
