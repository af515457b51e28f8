import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { Clock } from '../../platform/time.ts'
import type { EventStore } from '../commit/event-store.ts'
import { type Outcome, record } from '../effects/outcome.ts'
import { PermanentFailure, type Reactor } from '../effects/reactor.ts'
import { closeDuty, type Failure, failDuty, type Leased, releaseDuty, renewLease } from './lease.ts'

export type Performed = 'performed' | 'failed' | 'parked' | 'released' | 'lease_lost'

export type PerformDeps<D> = {
  pool: Pool
  store: EventStore
  /** Dependencies of the reactors. */
  work: D
  now: Clock
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  random: () => number
  logger: Logger
  /** Closes a duty without an outcome; false if its lease was lost. */
  closeAlone: (duty: Leased) => Promise<boolean>
}

/** Performs one leased duty and closes, postpones or parks it. Throws only database errors. */
export async function performLeased<D>(
  deps: PerformDeps<D>,
  reactor: Reactor<D>,
  duty: Leased,
  stopping: AbortSignal,
): Promise<Performed> {
  // Every earlier attempt crashed its process; otherwise the duty would already be parked.
  if (duty.attempts > reactor.attempts)
    return fail(deps, reactor, duty, new PermanentFailure('every attempt ended with its process'))
  const renewing = renewed(deps, reactor, duty)
  try {
    const outcome = await withinDeadline(reactor.deadlineMs, stopping, signal =>
      reactor.perform(toPerform(duty), deps.work, signal),
    )
    return (await close(deps, duty, outcome)) ? 'performed' : leaseLost(deps, duty)
  } catch (error) {
    if (!stopping.aborted) return fail(deps, reactor, duty, error)
    await releaseDuty(deps.pool, duty)
    return 'released'
  } finally {
    clearInterval(renewing)
  }
}

/** A renewal that fails is repeated in time: the lease lasts for three. */
function renewed<D>({ pool, now, logger }: PerformDeps<D>, reactor: Reactor<D>, duty: Leased) {
  if (reactor.renewMs === null) return undefined
  return setInterval(
    () =>
      renewLease(pool, duty, { reactor, now: now() }).catch(error =>
        logger.warn({ err: error, duty_id: duty.duty_id }, 'a lease could not be renewed'),
      ),
    reactor.renewMs,
  )
}

const toPerform = ({ duty_id, payload, attempts, due_at }: Leased) => ({
  duty_id,
  payload,
  attempt: attempts,
  due_at,
})

/** Rejects at the deadline or when stopping, even if the work ignores its signal. */
async function withinDeadline<T>(
  deadlineMs: number,
  stopping: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const gaveUp = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason))
  })
  const stop = () => controller.abort(new Error('the process is stopping'))
  const timer = setTimeout(
    () => controller.abort(new Error(`no result within ${deadlineMs} ms`)),
    deadlineMs,
  )
  stopping.addEventListener('abort', stop)
  try {
    stopping.throwIfAborted()
    return await Promise.race([gaveUp, work(controller.signal)])
  } finally {
    clearTimeout(timer)
    stopping.removeEventListener('abort', stop)
  }
}

/** False if the lease was lost; the outcome is then discarded, because the new holder records its own. */
function close<D>(deps: PerformDeps<D>, duty: Leased, outcome: Outcome): Promise<boolean> {
  if (outcome.length === 0) return deps.closeAlone(duty)
  // The row stays locked until the commit, so no other process can take over the duty in between.
  return record(deps, causeOf(duty), {
    outcome,
    unless: async tx => !(await closeDuty(tx, duty, deps.now())),
  })
}

const causeOf = (duty: Leased) => ({
  actor: { type: 'system', id: duty.reactor, via: 'duty' } as const,
  requestId: duty.request_id,
  ...(duty.event_id && { causationId: duty.event_id }),
})

function leaseLost<D>({ logger }: PerformDeps<D>, { duty_id, reactor }: Leased): Performed {
  logger.warn({ duty_id, reactor }, 'a duty took longer than its lease; another process has it')
  return 'lease_lost'
}

async function fail<D>(
  deps: PerformDeps<D>,
  reactor: Reactor<D>,
  duty: Leased,
  cause: unknown,
): Promise<Performed> {
  const { pool, logger } = deps
  const { duty_id, attempts } = duty
  const failure = failureOf(deps, reactor, attempts, cause)
  const isParked = 'parkedAt' in failure
  logger.warn(
    { duty_id, reactor: reactor.name, attempts, error: failure.error },
    isParked ? 'a duty was parked' : 'a duty failed, will retry',
  )
  if (!isParked) {
    await failDuty(pool, duty, failure)
    return 'failed'
  }
  const outcome = await reactor.givenUp(toPerform(duty), deps.work)
  if (outcome.length === 0) await failDuty(pool, duty, failure)
  else
    await record(deps, causeOf(duty), {
      outcome,
      unless: async tx => !(await failDuty(tx, duty, failure)),
    })
  return 'parked'
}

const maxBackoffMs = 3_600_000

function failureOf<D>(
  { now, random }: PerformDeps<D>,
  { attempts: limit, backoffMs }: Reactor<D>,
  attempts: number,
  cause: unknown,
): Failure {
  const error = errorTextOf(cause)
  if (attempts >= limit || cause instanceof PermanentFailure) return { error, parkedAt: now() }
  // Full jitter, so that duties that failed together are not retried together.
  const pauseMs = random() * Math.min(maxBackoffMs, backoffMs * 2 ** (attempts - 1))
  return { error, dueAt: new Date(now().getTime() + pauseMs) }
}

const maxErrorLength = 500

/**
 * The error message, shortened and without possible secrets: URLs lose their credentials, query and fragment.
 * NUL is removed because PostgreSQL cannot store it in a text.
 */
export function errorTextOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message || cause.name : String(cause)
  return message
    .slice(0, 10 * maxErrorLength)
    .replaceAll('\0', '')
    .replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@]*@/gi, '$1')
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s?#]*)[?#][^\s]*/gi, '$1')
    .slice(0, maxErrorLength)
}
