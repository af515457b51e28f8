import type { Pool } from 'pg'
import { nothing } from '../effects/outcome.ts'
import { type Reactor, reactor } from '../effects/reactor.ts'

type Dropped = { duty_id: string; reactor: string }
type Row = { payload: object; attempts: number; due_at: Date }

/** If an administrator drops a duty, its work ends as failed, in the same way as after its last attempt. */
export function dropEnder<D extends { pool: Pool }>(reactors: readonly Reactor<D>[]): Reactor<D> {
  return reactor<Dropped, D>({
    name: 'end-dropped-duties',
    repeat: 'local',
    dutiesOf: ({ type, data }) =>
      type === 'duty.dropped' && reactors.some(one => one.name === data.reactor)
        ? [{ payload: { duty_id: data.duty_id, reactor: data.reactor } }]
        : [],
    async perform({ payload: { duty_id, reactor: name } }, deps) {
      const { rows } = await deps.pool.query<Row>(
        'select payload, attempts, due_at from write.duty where duty_id = $1',
        [duty_id],
      )
      const [row] = rows
      const dropped = reactors.find(one => one.name === name)
      if (!row || !dropped) return nothing
      const { payload, attempts: attempt, due_at } = row
      return dropped.givenUp({ duty_id, payload, attempt, due_at }, deps)
    },
  })
}
