import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { forEachApart } from '../../platform/each.ts'
import { type Repeated, repeat } from '../../platform/repeat.ts'
import type { Clock } from '../../platform/time.ts'
import { bounded, dutyIdOf } from '../commit/new-duty.ts'
import type { Reactor } from '../effects/reactor.ts'

type Every = NonNullable<Reactor<never>['every']>
type Scheduled = { name: string; every: Every }

export type SchedulesDeps = {
  pool: Pool
  reactors: readonly Pick<Reactor<never>, 'name' | 'every'>[]
  now: Clock
  logger: Logger
  /** Called after the duty of a slot was added. */
  dutiesAdded: () => void
  tickMs?: number
}

/**
 * Adds one duty for each due slot, even if several processes see it at once. Slots missed while all processes were down are
 * made up for by a single duty.
 */
export function startSchedules(deps: SchedulesDeps): Repeated {
  const { pool, reactors, now, logger, dutiesAdded, tickMs = 1000 } = deps
  const scheduled = reactors.flatMap(({ name, every }) => (every ? [{ name, every }] : []))
  let isDeclared = false
  return repeat(
    async () => {
      if (!isDeclared) for (const one of scheduled) await declare(pool, one, now())
      isDeclared = true
      if (await addSlots(deps, scheduled)) dutiesAdded()
      return tickMs
    },
    { failed: error => logger.warn({ err: error }, 'schedules could not be read, will retry') },
  )
}

/** The first slot after `now`. */
export function nextSlot(now: Date, seconds: number): Date {
  const ms = seconds * 1000
  return new Date((Math.floor(now.getTime() / ms) + 1) * ms)
}

/** Stores a schedule. A changed interval applies from now on; an unchanged one keeps its next slot, even if overdue. */
async function declare(pool: Pool, { name, every }: Scheduled, now: Date): Promise<void> {
  await pool.query(
    `insert into write.schedule (schedule, every_seconds, next_at) values ($1, $2, $3)
         on conflict (schedule) do update set every_seconds = excluded.every_seconds, next_at = excluded.next_at
      where schedule.every_seconds <> excluded.every_seconds`,
    [name, every.seconds, nextSlot(now, every.seconds)],
  )
}

/** True if a duty was added. */
async function addSlots(
  { pool, now: clock, logger }: SchedulesDeps,
  scheduled: readonly Scheduled[],
): Promise<boolean> {
  if (scheduled.length === 0) return false
  const now = clock()
  const { rows } = await pool.query<{ schedule: string; next_at: Date }>({
    name: 'schedules_due',
    // Clocks of servers differ by less than an interval: a slot further ahead is that of a wrong one.
    text: `select schedule, next_at from write.schedule
            where schedule = any($1)
              and (next_at <= $2 or next_at > $2::timestamptz + 2 * every_seconds * interval '1 second')`,
    values: [scheduled.map(({ name }) => name), now],
  })
  let isAdded = false
  const add = async ({ schedule, next_at }: { schedule: string; next_at: Date }) => {
    const found = scheduled.find(({ name }) => name === schedule)
    if (found && next_at > now) await bringBack(pool, found, { slot: next_at, now })
    else if (found && (await addSlot(pool, found, { slot: next_at, now }))) isAdded = true
  }
  await forEachApart(rows, add, (error, { schedule }) =>
    logger.error({ err: error, schedule }, 'a slot of this schedule could not be added'),
  )
  return isAdded
}

/** Undoes what a clock far ahead did. */
async function bringBack(
  pool: Pool,
  { name, every }: Scheduled,
  { slot, now }: { slot: Date; now: Date },
): Promise<void> {
  await pool.query('update write.schedule set next_at = $3 where schedule = $1 and next_at = $2', [
    name,
    slot,
    nextSlot(now, every.seconds),
  ])
}

/** Moves past the slot and adds its duty in one statement, so that both happen or neither. */
async function addSlot(
  pool: Pool,
  { name, every }: Scheduled,
  { slot, now }: { slot: Date; now: Date },
): Promise<boolean> {
  const cause = `schedule ${name}`
  const { rowCount } = await pool.query({
    name: 'schedule_slot',
    text: `with passed as (
             update write.schedule set next_at = $3, last_slot_at = $2
              where schedule = $1 and next_at = $2 returning schedule)
           insert into write.duty (duty_id, reactor, cause, request_id, payload, created_at, due_at)
           select $4, $1, $5, $5, $6, $7, $2 from passed
               on conflict do nothing`,
    values: [
      name,
      slot,
      nextSlot(now, every.seconds),
      dutyIdOf(`${cause} ${slot.toISOString()}`, name, 0),
      cause,
      JSON.stringify(bounded(every.payload(slot), name)),
      now,
    ],
  })
  return rowCount === 1
}
