import type { Logger } from 'pino'
import { createClient } from 'redis'

/** A process that cannot reach Redis tries again this often, in milliseconds. */
const retryMs = 500
/** Redis that takes longer counts as away; whoever asks has a slower answer of their own. */
const answerWithinMs = 500

export type RedisClient = ReturnType<typeof connect>

/**
 * A connection that comes and goes as Redis does: neither a start nor a request ever waits for it. While
 * Redis is away every command fails at once.
 */
export function openRedis(url: string, logger: Logger): RedisClient {
  const client = connect(url)
  client.on('error', error => logger.debug({ err: error }, 'redis is away'))
  // Tries for ever; fails only when the client is destroyed first.
  client.connect().catch(() => {})
  return client
}

const connect = (url: string) =>
  createClient({
    url,
    socket: { reconnectStrategy: () => retryMs },
    disableOfflineQueue: true,
  })

/** Redis' reply; throws if there is none within half a second. */
export async function promptly<T>(asked: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('redis does not answer')), answerWithinMs)
  })
  try {
    return await Promise.race([asked, late])
  } finally {
    clearTimeout(timer)
  }
}
