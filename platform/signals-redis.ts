import type { Logger } from 'pino'
import { createClient } from 'redis'
import { inProcessSignals, type Projected, type Signals } from './signals.ts'

export type RedisSignalsOptions = { url: string; prefix: string; logger: Logger }

/** A process that cannot reach Redis tries again this often, in milliseconds. */
const retryMs = 500
/** So that a message stays small; who waits for a key past these finds it at their next own look. */
const maxKeys = 500

/**
 * Wake-ups between the processes of an installation, one message for each commit of a projection. Lost
 * messages cost time only: readers also look by themselves, so nothing here ever fails a caller.
 */
export async function openRedisSignals(options: RedisSignalsOptions): Promise<Signals> {
  const { url, prefix, logger } = options
  const channel = `${prefix}.projected`
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
  await subscriber.subscribe(channel, text => {
    const { from, ...projected } = JSON.parse(text) as Projected & { from: string }
    if (from !== self) local.publish(projected)
  })
  return {
    publish(projected) {
      local.publish(projected)
      const keys = projected.keys.slice(0, maxKeys)
      publisher
        .publish(channel, JSON.stringify({ ...projected, keys, from: self }))
        .catch(error => logger.debug({ err: error }, 'a wake-up was lost'))
    },
    subscribe: local.subscribe,
    async close() {
      await local.close()
      subscriber.destroy()
      publisher.destroy()
    },
  }
}
