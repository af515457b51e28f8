import fc from 'fast-check'
import {
  amend,
  billLinesOf,
  type Entry,
  type Metered,
  meter,
  standing,
  unmetered,
} from '../../events/calculations/billing.ts'
import type { JobEvent } from '../../events/jobs.ts'
import { admittedJob, exitedZero } from '../jobs/given.ts'

const subject = { run_id: 'run_1', short_id: 'math-rl-1', project: 'math-rl', owner: 'ada' }

export const admission = (gpus: number, price_per_gpu_hour: string): JobEvent => ({
  type: 'job.admitted',
  data: { ...admittedJob(), gpus, price_per_gpu_hour },
})
export const ran = (attempt: number, started_at: string): JobEvent => ({
  type: 'job.running',
  data: { ...subject, attempt, started_at },
})
export const exited = (attempt: number, ended_at: string): JobEvent => ({
  type: 'job.exited',
  data: { ...subject, ...exitedZero, attempt, ended_at, gpu_seconds: 0 },
})
export const repriced = (price_per_gpu_hour: string, effective_at: string): JobEvent => ({
  type: 'job.repriced',
  data: { ...subject, price_per_gpu_hour, effective_at },
})

/** The ledger of a job after these events, each followed by the work it makes due. */
export function ledgerOf(events: readonly JobEvent[]): { metered: Metered; entries: Entry[] } {
  let metered = unmetered
  const entries: Entry[] = []
  for (const event of events) {
    metered = meter(metered, event)
    entries.push(...amend(entries, billLinesOf(metered)))
  }
  return { metered, entries }
}

/** The valid lines, in order of time. */
export const billOf = (events: readonly JobEvent[]) =>
  standing(ledgerOf(events).entries).sort((a, b) => (a.starts_at < b.starts_at ? -1 : 1))

/** Times around the ends of days, months, years and a leap day. */
const origins = ['2023-12-30', '2024-02-27', '2025-02-27', '2026-11-20', '2027-12-30']

const price = fc
  .tuple(fc.integer({ min: 0, max: 99_999 }), fc.integer({ min: 0, max: 9999 }))
  .map(([whole, fraction]) => `${whole}.${String(fraction).padStart(4, '0')}`)

/** Milliseconds, often of a whole second or day. */
const span = fc.oneof(
  fc.integer({ min: 0, max: 200_000_000 }),
  fc.integer({ min: 0, max: 100 }).map(seconds => seconds * 1000),
  fc.integer({ min: 0, max: 3 }).map(days => days * 86_400_000),
)

export type History = { gpus: number; events: JobEvent[]; from: number; to: number }

/**
 * A job of several attempts, with pauses, restarts and losses: marks may be missing, clocks of machines differ by up to a
 * minute, and prices change at any time.
 */
export const history: fc.Arbitrary<History> = fc
  .record({
    origin: fc.constantFrom(...origins),
    gpus: fc.integer({ min: 0, max: 64 }),
    first: price,
    attempts: fc.array(
      fc.record({
        idle: span,
        length: span,
        skew: fc.integer({ min: -60_000, max: 60_000 }),
        isReported: fc.boolean().map(lost => !lost),
        isExited: fc.integer({ min: 0, max: 9 }).map(one => one > 0),
      }),
      { maxLength: 5 },
    ),
    changes: fc.array(fc.record({ price, at: fc.integer({ min: 0, max: 1_000_000_000 }) }), {
      maxLength: 4,
    }),
  })
  .map(({ origin, gpus, first, attempts, changes }) => {
    const from = Date.parse(origin)
    const events = [admission(gpus, first)]
    let at = from
    for (const [index, { idle, length, skew, isReported, isExited }] of attempts.entries()) {
      at += idle
      if (isReported) events.push(ran(index + 1, iso(at)))
      at += length
      if (isExited) events.push(exited(index + 1, iso(at + skew)))
    }
    for (const change of changes) events.push(repriced(change.price, iso(from + change.at)))
    return { gpus, events, from, to: at + 60_000 }
  })

export const iso = (ms: number) => new Date(ms).toISOString()

/** The same events in any order, some of them repeated. */
export const shuffled = (events: readonly JobEvent[]): fc.Arbitrary<JobEvent[]> =>
  fc
    .tuple(
      fc.shuffledSubarray([...events], { minLength: events.length }),
      fc.shuffledSubarray([...events]),
      fc.integer({ min: 0, max: events.length }),
    )
    .map(([all, again, at]) => [...all.slice(0, at), ...again, ...all.slice(at)])
