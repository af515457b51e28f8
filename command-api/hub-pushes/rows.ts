import type { Pool } from 'pg'
import type { HubPushEvent } from '../../events/hub-pushes.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { HubPushState } from '../../schemas/hub-pushes.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { FileToSend } from '../rules/hub-sending.ts'

/** That are under way at a time for one person. */
const maxUnderWay = 20

export type PushRow = {
  push_id: string
  owner: string
  repo: string
  is_private: boolean
  run_id: string
  artifact_id: string | null
  state: HubPushState
  card: string | null
}
/** `oid`: what git calls the content. */
export type ListedFile = FileToSend & { oid: string }

export async function findPush(db: Pool | Transaction, push_id: string): Promise<PushRow | null> {
  const { rows } = await db.query<PushRow>({
    name: 'find_hub_push',
    text: `select push_id, owner, repo, is_private, run_id, artifact_id, state, card
             from write.hub_push where push_id = $1`,
    values: [push_id],
  })
  return rows[0] ?? null
}

export async function filesOf(pool: Pool, push_id: string): Promise<ListedFile[]> {
  const { rows } = await pool.query<ListedFile>({
    name: 'files_of_hub_push',
    text: `select name, size_bytes::float8 as size_bytes, sha256, oid, sample
             from write.hub_push_file where push_id = $1 order by name`,
    values: [push_id],
  })
  return rows
}

export const saveFiles = (tx: Transaction, push_id: string, files: readonly ListedFile[]) =>
  tx.query(
    `insert into write.hub_push_file (push_id, name, size_bytes, sha256, oid, sample)
     select $1, f.name, f.size_bytes, f.sha256, f.oid, f.sample
       from jsonb_to_recordset($2) as f (name text, size_bytes bigint, sha256 text, oid text, sample text)
     on conflict do nothing`,
    [push_id, JSON.stringify(files)],
  )

/** Writes the row that the sender reads. */
export async function savePush(
  tx: Transaction,
  { events }: { events: readonly HubPushEvent[] },
): Promise<void> {
  for (const { type, data } of events)
    switch (type) {
      case 'hub.push_requested': {
        await tx.query(
          `insert into write.hub_push (push_id, owner, repo, is_private, run_id, artifact_id, state)
           values ($1, $2, $3, $4, $5, $6, 'requested')`,
          [data.push_id, data.owner, data.repo, data.private, data.run_id, data.artifact_id],
        )
        break
      }
      case 'hub.push_listed':
        await tx.query(
          `update write.hub_push set state = 'sending', card = $2 where push_id = $1`,
          [...[data.push_id, data.card]],
        )
        break
      case 'hub.push_progressed':
        break
      case 'hub.push_sent':
        await end(tx, data.push_id, 'sent')
        break
      case 'hub.push_failed':
        await end(tx, data.push_id, 'failed')
        break
      case 'hub.push_cancelled':
        await end(tx, data.push_id, 'cancelled')
    }
}

async function end(tx: Transaction, push_id: string, state: HubPushState): Promise<void> {
  await tx.query('update write.hub_push set state = $2 where push_id = $1', [push_id, state])
  await tx.query('delete from write.hub_push_file where push_id = $1', [push_id])
}

export async function refuseTooMany(tx: Transaction, owner: string): Promise<void> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*)::int as count from write.hub_push
      where owner = $1 and state in ('requested', 'sending')`,
    [owner],
  )
  if ((rows[0]?.count ?? 0) >= maxUnderWay)
    throw new Refusal(
      'conflict',
      `You are sending ${maxUnderWay} artifacts to the hub already, the maximum at a time`,
      { code: 'hub.too_many', hint: 'Wait for one of them, or stop it (forge hub rm)' },
    )
}
