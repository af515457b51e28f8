import type { Logger } from 'pino'
import { promptly, type RedisClient } from './redis.ts'
import { inProcessSignals, type Projected, type Signals } from './signals.ts'

export type RedisSignalsOptions = { redis: RedisClient; prefix: string; logger: Logger }

/** So that a message stays small; who waits for a key past these finds it at their next own look. */
const maxKeys = 500

type FromOther<T> = T & { from: string }

/**
 * Wake-ups between the processes of an installation, one message for each commit of a projection and each
 * change of somebody's access. Lost messages cost time only: readers also look by themselves, so nothing
 * here ever fails a caller.
 */
export async function openRedisSignals(options: RedisSignalsOptions): Promise<Signals> {
  const { redis, prefix, logger } = options
  const local = inProcessSignals()
  // A connection that listens can ask nothing.
  const subscriber = redis.duplicate()
  const away = (error: unknown) => logger.debug({ err: error }, 'redis is away')
  subscriber.on('error', away)
  const self = crypto.randomUUID()
  const tellOthers = (channel: string, message: object) => {
    redis
      .publish(`${prefix}.${channel}`, JSON.stringify({ ...message, from: self }))
      .catch(error => logger.debug({ err: error }, 'a wake-up was lost'))
  }
  const hearOthers = <T>(channel: string, listener: (message: T) => void) =>
    subscriber.subscribe(`${prefix}.${channel}`, text => {
      const { from, ...message } = JSON.parse(text) as FromOther<T>
      if (from !== self) listener(message as T)
    })
  // Once it listens it does so again after each loss of the connection.
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
  const listen = async () => {
    await hearOthers<Projected>('projected', local.publish)
    await hearOthers<{ username: string }>('access', ({ username }) =>
      local.publishAccess(username),
    )
    await hearOthers('maintenance', () => local.publishMaintenance())
  }
  subscriber.connect().catch(away)
  // A start does not wait for a Redis that is away.
  await promptly(listening).catch(away)
  return {
    publish(projected) {
      local.publish(projected)
      tellOthers('projected', { ...projected, keys: projected.keys.slice(0, maxKeys) })
    },
    publishAccess(username) {
      local.publishAccess(username)
      tellOthers('access', { username })
    },
    publishMaintenance() {
      local.publishMaintenance()
      tellOthers('maintenance', {})
    },
    subscribe: local.subscribe,
    subscribeAccess: local.subscribeAccess,
    subscribeMaintenance: local.subscribeMaintenance,
    async close() {
      await local.close()
      subscriber.destroy()
    },
  }
}
