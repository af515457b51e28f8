import { randomUUID } from 'node:crypto'
import type { Forge } from './forge.ts'
import { until } from './until.ts'

/** Has a scheduled duty performed at once, and waits until it and its further duties are done. */
export async function dutyNow(
  { pool }: Pick<Forge, 'pool'>,
  reactor: string,
  payload: object,
): Promise<void> {
  const cause = `schedule ${reactor} ${randomUUID()}`
  await pool.query(
    `insert into write.duty (duty_id, reactor, cause, request_id, payload, created_at, due_at)
     values ($1, $2, $3, $3, $4, now(), now())`,
    [randomUUID(), reactor, cause, JSON.stringify(payload)],
  )
  await until(`${reactor} is done`, 30_000, async () => {
    const { rows } = await pool.query(
      'select bool_and(done_at is not null) as done, max(last_error) as error from write.duty where cause = $1',
      [cause],
    )
    if (rows[0].error) throw new Error(rows[0].error)
    return rows[0].done
  })
}
