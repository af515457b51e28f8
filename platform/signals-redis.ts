import type { Logger } from 'pino'
import { createClient } from 'redis'
import { inProcessSignals, type Projected, type Signals } from './signals.ts'

export type RedisSignalsOptions = { url: string; prefix: string; logger: Logger }

/** A process that cannot reach Redis tries again this often, in milliseconds. */
const retryMs = 500
/** So that a message stays small; who waits for a key past these finds it at their next own look. */
const maxKeys = 500

type FromOther<T> = T & { from: string }

/**
 * Wake-ups between the processes of an installation, one message for each commit of a projection and each
 * change of somebody's access. Lost messages cost time only: readers also look by themselves, so nothing
 * here ever fails a caller.
 */
export async function openRedisSignals(options: RedisSignalsOptions): Promise<Signals> {
  const { url, prefix, logger } = options
  const local = inProcessSignals()
  const connection = {
    url,
    socket: { reconnectStrategy: () => retryMs },
    disableOfflineQueue: true,
  }
  const publisher = createClient(connection)
  const subscriber = createClient(connection)
  for (const client of [publisher, subscriber])
    client.on('error', error => logger.debug({ err: error }, 'redis is away'))
  await Promise.all([publisher.connect(), subscriber.connect()])
  const self = crypto.randomUUID()
  const tellOthers = (channel: string, message: object) => {
    publisher
      .publish(`${prefix}.${channel}`, JSON.stringify({ ...message, from: self }))
      .catch(error => logger.debug({ err: error }, 'a wake-up was lost'))
  }
  const hearOthers = <T>(channel: string, listener: (message: T) => void) =>
    subscriber.subscribe(`${prefix}.${channel}`, text => {
      const { from, ...message } = JSON.parse(text) as FromOther<T>
      if (from !== self) listener(message as T)
    })
  await hearOthers<Projected>('projected', local.publish)
  await hearOthers<{ username: string }>('access', ({ username }) => local.publishAccess(username))
  return {
    publish(projected) {
      local.publish(projected)
      tellOthers('projected', { ...projected, keys: projected.keys.slice(0, maxKeys) })
    },
    publishAccess(username) {
      local.publishAccess(username)
      tellOthers('access', { username })
    },
    subscribe: local.subscribe,
    subscribeAccess: local.subscribeAccess,
    async close() {
      await local.close()
      subscriber.destroy()
      publisher.destroy()
    },
  }
}
