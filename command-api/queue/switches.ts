import type { Closed, EngineEvent, QueueEvent } from '../../events/queue.ts'
import type { Decided } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'

export async function isEngine(tx: Transaction, engine: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `select 1 from write.profile where executor = $1 union all select 1 from write.engine where engine = $1
     union all select 1 from write.drain where engine = $1`,
    [engine],
  )
  return rowCount !== 0
}

export async function saveSwitch(
  tx: Transaction,
  { state, now, actor }: Decided<Closed, QueueEvent>,
): Promise<void> {
  await tx.query(
    'update write.queue_switch set paused = $1, reason = $2, changed_at = $3, changed_by = $4',
    [state !== null, state?.reason ?? null, now, actor.id],
  )
}

export async function saveDrain(
  tx: Transaction,
  { events, now, actor }: Decided<Closed, EngineEvent>,
): Promise<void> {
  await tx.query('select 1 from write.queue_switch for update')
  for (const { type, data } of events)
    if (type === 'engine.undrained')
      await tx.query('delete from write.drain where engine = $1', [data.engine])
    else
      await tx.query(
        `insert into write.drain (engine, reason, since, drained_by) values ($1, $2, $3, $4)
         on conflict (engine) do update set reason = excluded.reason`,
        [data.engine, data.reason, now, actor.id],
      )
}
