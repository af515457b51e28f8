import type { Pool } from 'pg'
import type { ReflowEvent } from '../../events/reflows.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Taken } from './take.ts'

export const countReflows = async (tx: Transaction, owner: string): Promise<number> => {
  const { rows } = await tx.query<{ count: number }>(
    'select count(*)::int as count from write.reflow where owner = $1',
    [owner],
  )
  return rows[0]?.count ?? 0
}

export async function saveReflow(
  tx: Transaction,
  { events }: { events: readonly ReflowEvent[] },
): Promise<void> {
  for (const { type, data } of events)
    if (type === 'reflow.created')
      await tx.query('insert into write.reflow (reflow_id, owner, name) values ($1, $2, $3)', [
        ...[data.reflow_id, data.owner, data.name],
      ])
    else if (type === 'reflow.deleted')
      await tx.query('delete from write.reflow where reflow_id = $1', [data.reflow_id])
}

/** Notes whose captured requests a version has. */
export async function noteTaken(
  tx: Transaction,
  { ref, deployment_id }: { ref: string; deployment_id: string },
  taken: readonly Pick<Taken, 'of'>[],
): Promise<void> {
  const people = new Map(
    taken.flatMap(({ of }) =>
      of ? [[`${of.token_id} ${of.subject}`, { ...of, subject: of.subject ?? '' }] as const] : [],
    ),
  )
  await tx.query(
    `insert into write.reflow_taken (ref, deployment_id, token_id, subject)
     select $1, $2, p.token_id, p.subject from jsonb_to_recordset($3) as p (token_id text, subject text)
     on conflict do nothing`,
    [ref, deployment_id, JSON.stringify([...people.values()])],
  )
}

/** `subject` and `token_id`: exactly one is not ''. */
export type Erased = { deployment_id: string; subject: string; token_id: string }

const of = ({ deployment_id, subject, token_id }: Erased) => [deployment_id, subject, token_id]

/** Deletes at most so many rows; the rest is never taken, and deleted in time. */
export async function eraseCaptured(
  tx: Transaction,
  erased: Erased,
  { now, most }: { now: Date; most: number },
): Promise<number> {
  await tx.query(
    `insert into write.reflow_erasure (deployment_id, subject, token_id, erased_at) values ($1, $2, $3, $4)
     on conflict (deployment_id, subject, token_id) do update set erased_at = excluded.erased_at`,
    [...of(erased), now],
  )
  const { rowCount } = await tx.query(
    `delete from write.captured_request where seq = any(array(
       select seq from write.captured_request
        where deployment_id = $1 and (subject = $2 or token_id = $3) order by seq limit $4))`,
    [...of(erased), most],
  )
  return rowCount ?? 0
}

/** The newest versions with their rows, at most one more than asked for. */
export async function versionsWith(
  db: Pool | Transaction,
  erased: Erased,
  most: number,
): Promise<string[]> {
  const { rows } = await db.query<{ ref: string }>(
    `select ref from write.reflow_taken
      where deployment_id = $1 and (subject = $2 and $2 <> '' or token_id = $3)
      group by ref
      order by split_part(ref, '@', 1), split_part(ref, '@', 2)::bigint desc limit $4`,
    [...of(erased), most + 1],
  )
  return rows.map(({ ref }) => ref)
}

const unwanted = {
  old: 'select seq from write.captured_request where started_at < $2',
  erased: `select c.seq from write.reflow_erasure e join write.captured_request c
                on c.deployment_id = e.deployment_id and c.started_at <= e.erased_at
                   and (c.subject = e.subject or c.token_id = e.token_id)
            where $2::timestamptz is not null`,
  orphaned: `select c.seq from write.resource d join write.captured_request c on c.deployment_id = d.id
              where d.kind = 'deployment' and d.deleted_at is not null and $2::timestamptz is not null`,
} as const

/** Deletes captured requests that are too old, erased, or of a deleted deployment; returns how many. */
export async function deleteUnwanted(
  pool: Pool,
  what: keyof typeof unwanted,
  { before, most }: { before: Date; most: number },
): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from write.captured_request where seq = any(array(${unwanted[what]} limit $1))`,
    [most, before],
  )
  return rowCount ?? 0
}

export const unwantedKinds = ['old', 'erased', 'orphaned'] as const
