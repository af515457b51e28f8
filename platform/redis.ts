import type { Logger } from 'pino'

/** Pause between attempts to reach Redis, in milliseconds. */
const retryMs = 500
/** A slower Redis counts as unreachable; every caller has a fallback without it. */
const answerWithinMs = 500

export type RedisClient = Awaited<ReturnType<typeof connect>>

/**
 * Connects in the background, again after each loss: neither a start nor a request waits for it. While Redis is
 * unreachable every command fails at once.
 */
export async function openRedis(url: string, logger: Logger): Promise<RedisClient> {
  const client = await connect(url)
  client.on('error', error => logger.debug({ err: error }, 'redis is unreachable'))
  // Retries forever; fails only if the client is destroyed first.
  client.connect().catch(() => {})
  return client
}

async function connect(url: string) {
  // Its hundreds of modules are loaded only where Redis is configured.
  const { createClient } = await import('redis')
  return createClient({
    url,
    socket: { reconnectStrategy: () => retryMs },
    disableOfflineQueue: true,
  })
}

/** Returns Redis' reply; throws if there is none within half a second. */
export async function promptly<T>(asked: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('redis did not respond in time')), answerWithinMs)
  })
  try {
    return await Promise.race([asked, late])
  } finally {
    clearTimeout(timer)
  }
}
