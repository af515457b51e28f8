import type { Pool } from 'pg'
import type { Logger } from 'pino'
import {
  type RateLimiterAbstract,
  RateLimiterPostgres,
  RateLimiterRedis,
  RateLimiterRes,
} from 'rate-limiter-flexible'
import { promptly, type RedisClient } from './redis.ts'
import { Refusal } from './refusal.ts'

/** At most `points` calls of one client in a window of `windowSeconds`, which begins with its first call. */
export type RateLimit = { name: string; points: number; windowSeconds: number }

export type RateLimits = {
  /** Counts a call; throws `rate_limited` with the time left once the window is used up. */
  count(limit: RateLimit, client: string): Promise<void>
}

export type RateLimitStores = {
  pool: Pool
  /** The schema of the table `rate_limit`. */
  schema: string
  /** Null if none is configured. */
  redis: RedisClient | null
  /** Separates installations that share a Redis. */
  prefix: string
  logger: Logger
}

/**
 * Counts calls for all processes of an installation. Redis refuses a flood without a query. Calls that it accepts are
 * also counted in Postgres, so that the count survives an outage of Redis, and a Redis that comes back empty.
 */
export function createRateLimits(stores: RateLimitStores): RateLimits {
  const known = new Map<string, ReturnType<typeof limitersOf>>()
  return {
    async count(limit, client) {
      const limiters = known.get(limit.name) ?? limitersOf(limit, stores)
      known.set(limit.name, limiters)
      const seconds = limiters.redis
        ? await countInRedis(limiters.redis, client, stores.logger)
        : limit.windowSeconds
      if (seconds > 0) await consume(limiters.postgres, client, seconds)
    },
  }
}

function limitersOf({ name, points, windowSeconds }: RateLimit, stores: RateLimitStores) {
  const { pool, schema, redis, prefix } = stores
  const both = { points, duration: windowSeconds }
  return {
    postgres: new RateLimiterPostgres({
      ...both,
      keyPrefix: name,
      storeClient: pool,
      storeType: 'pool',
      schemaName: schema,
      tableName: 'rate_limit',
      tableCreated: true,
    }),
    redis:
      redis &&
      new RateLimiterRedis({
        ...both,
        keyPrefix: `${prefix}.limit.${name}`,
        storeClient: redis,
        useRedisPackage: true,
      }),
  }
}

/**
 * Returns how long a window that begins in Postgres now may last, in seconds. It must end before the one in Redis;
 * otherwise a client that waited for `Retry-After` would be refused again. 0: no count is needed.
 */
async function countInRedis(
  limiter: RateLimiterRedis,
  client: string,
  logger: Logger,
): Promise<number> {
  try {
    const { msBeforeNext } = await promptly(limiter.consume(client))
    return Math.ceil(msBeforeNext / 1000) - 1
  } catch (error) {
    if (error instanceof RateLimiterRes) throw tooMany(limiter, error)
    logger.debug({ err: error }, 'calls are counted without redis')
    return limiter.duration
  }
}

async function consume(
  limiter: RateLimiterPostgres,
  client: string,
  customDuration: number,
): Promise<void> {
  try {
    await limiter.consume(client, 1, { customDuration })
  } catch (error) {
    if (error instanceof RateLimiterRes) throw tooMany(limiter, error)
    throw error
  }
}

function tooMany({ points, duration }: RateLimiterAbstract, { msBeforeNext }: RateLimiterRes) {
  const retryAfterSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
  return new Refusal(
    'rate_limited',
    `More than ${points} calls within ${duration} s from this address; try again in ${retryAfterSeconds} s`,
    { code: 'rate_limited', retryAfterSeconds, data: { limit: points, window_s: duration } },
  )
}
