import { startSchedules } from '../../command-api/duties/schedules.ts'
import type { Reactor } from '../../command-api/effects/reactor.ts'
import { until } from '../servers/until.ts'
import { silent } from './duty-store.ts'
import { dutyRunners } from './login-duties.ts'

/** Duties and schedules, on a clock that only the test moves. */
export async function scheduleRunners(...given: Parameters<typeof dutyRunners>) {
  const [t] = given
  const runners = await dutyRunners(...given)
  const start = (given: Reactor<null> | Reactor<null>[], dutiesAdded = () => {}) => {
    const { pool, clock } = runners
    const now = () => clock.now
    const schedules = startSchedules({
      pool,
      reactors: [given].flat(),
      now,
      logger: silent,
      dutiesAdded,
      tickMs: 10,
    })
    t.teardown(() => schedules.stop())
    return schedules
  }
  const declared = async () =>
    (await runners.pool.query('select * from write.schedule')).rows as {
      next_at: Date
      every_seconds: number
      last_slot_at: Date | null
    }[]
  const row = async () => (await declared())[0]
  const nextAt = (iso: string) =>
    until(
      `the next slot is ${iso}`,
      10_000,
      async () => (await row())?.next_at.toISOString() === iso,
    )
  /** When the duties that were added are due. */
  const dueAt = async () => (await runners.rows()).map(({ due_at }) => due_at.toISOString())
  return { ...runners, start, row, declared, nextAt, dueAt }
}
