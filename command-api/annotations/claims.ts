import type { Pool } from 'pg'
import type { AnnotationAnswerEvent } from '../../events/annotation-answers.ts'
import { type AnnotationAnswer, annotationLimits } from '../../schemas/annotations.ts'
import type { Transaction } from '../commit/event-store.ts'

/** Who asks, in which queue, and when. All of this runs under the lock of the queue's stream. */
export type At = { queue_id: string; username: string; now: Date }

export type ClaimedItem = {
  item: number
  digest: string
  prompt: unknown[]
  responses: string[]
  sources: string[]
  expires_at: Date
  draft: AnnotationAnswer | null
}

/** Places at an item are taken by answers, and by claims that have not expired. */
const taken = `(select count(*) from write.annotation_claim t
                 where t.queue_id = i.queue_id and t.item = i.item
                   and (t.state = 'answered' or (t.state = 'claimed' and t.expires_at > $3)))`

/**
 * The open claim of this person, or else a new one: of an item with a draft of theirs first, then of the first item with a free
 * place that they have not yet decided. Null: nothing is free now.
 */
export async function claimNext(
  tx: Transaction,
  { queue_id, username, now }: At,
  overlap: number,
): Promise<ClaimedItem | null> {
  const open = await openClaim(tx, { queue_id, username, now })
  if (open) return open
  const { rows } = await tx.query<{ item: number }>(
    `select i.item from write.annotation_item i
       left join write.annotation_claim m on m.queue_id = i.queue_id and m.item = i.item and m.username = $2
      where i.queue_id = $1 and not i.is_done and (m.state is null or m.state = 'claimed') and ${taken} < $4
      order by m.draft is null, i.item limit 1`,
    [queue_id, username, now, overlap],
  )
  const [next] = rows
  if (!next) return null
  await tx.query(
    `insert into write.annotation_claim (queue_id, item, username, state, expires_at)
     values ($1, $2, $3, 'claimed', $4)
     on conflict (queue_id, item, username) do update set expires_at = excluded.expires_at`,
    [queue_id, next.item, username, leaseFrom(now)],
  )
  return openClaim(tx, { queue_id, username, now })
}

const leaseFrom = (now: Date) => new Date(now.getTime() + annotationLimits.leaseMs)

async function openClaim(
  tx: Transaction,
  { queue_id, username, now }: At,
): Promise<ClaimedItem | null> {
  const { rows } = await tx.query<ClaimedItem>(
    `select i.item, i.digest, i.prompt, i.responses, i.sources, c.expires_at, c.draft
       from write.annotation_claim c
       join write.annotation_item i on i.queue_id = c.queue_id and i.item = c.item
      where c.queue_id = $1 and c.username = $2 and c.state = 'claimed' and c.expires_at > $3
      order by c.item limit 1`,
    [queue_id, username, now],
  )
  return rows[0] ?? null
}

/** Items that this person could answer if others did not hold them now. */
export async function countHeld(tx: Transaction, { queue_id, username }: At): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*)::int as count from write.annotation_item i
      where i.queue_id = $1 and not i.is_done
        and not exists (select from write.annotation_claim m
                         where m.queue_id = i.queue_id and m.item = i.item and m.username = $2
                           and m.state in ('answered', 'skipped'))`,
    [queue_id, username],
  )
  return rows[0]?.count ?? 0
}

export type Decided = { item: number; decided_at: Date }

/** What this person answered or skipped last. */
export async function lastDecided(
  db: Pool | Transaction,
  { queue_id, username }: Pick<At, 'queue_id' | 'username'>,
): Promise<Decided | null> {
  const { rows } = await db.query<Decided>(
    `select item, decided_at from write.annotation_claim
      where queue_id = $1 and username = $2 and state in ('answered', 'skipped')
      order by decided_at desc, item desc limit 1`,
    [queue_id, username],
  )
  return rows[0] ?? null
}

export type Claim = {
  state: 'claimed' | 'answered' | 'skipped'
  expires_at: Date
  decided_at: Date | null
}

export async function findClaim(
  tx: Transaction,
  { queue_id, username }: At,
  item: number,
): Promise<Claim | null> {
  const { rows } = await tx.query<Claim>(
    `select state, expires_at, decided_at from write.annotation_claim
      where queue_id = $1 and item = $2 and username = $3`,
    [queue_id, item, username],
  )
  return rows[0] ?? null
}

/** Whether one more person may hold the item. */
export async function hasRoom(
  tx: Transaction,
  { queue_id, now }: At,
  { item, overlap }: { item: number; overlap: number },
): Promise<boolean> {
  const { rows } = await tx.query<{ has_room: boolean }>(
    `select ${taken} < $4 as has_room from write.annotation_item i where i.queue_id = $1 and i.item = $2`,
    [queue_id, item, now, overlap],
  )
  return rows[0]?.has_room ?? false
}

/** A late answer is kept for its author, unless they have answered since. */
export const keepDraft = (
  pool: Pool,
  { queue_id, username }: Pick<At, 'queue_id' | 'username'>,
  { item, answer }: { item: number; answer: AnnotationAnswer },
) =>
  pool.query(
    `update write.annotation_claim set draft = $4
      where queue_id = $1 and item = $2 and username = $3 and state = 'claimed'`,
    [queue_id, item, username, JSON.stringify(answer)],
  )

/** Writes the rows that belong to an answer, a skip or an undo. */
export async function saveAnswer(
  tx: Transaction,
  { events, now }: { events: readonly AnnotationAnswerEvent[]; now: Date },
  overlap: number,
): Promise<void> {
  for (const { type, data } of events) {
    const of = [data.queue_id, data.item, data.username]
    if (type === 'annotation.answered')
      await tx.query(
        `update write.annotation_claim set state = 'answered', answer = $4, draft = null, decided_at = $5
          where queue_id = $1 and item = $2 and username = $3`,
        [...of, JSON.stringify(data.answer), now],
      )
    else if (type === 'annotation.skipped')
      await tx.query(
        `update write.annotation_claim set state = 'skipped', draft = null, decided_at = $4
          where queue_id = $1 and item = $2 and username = $3`,
        [...of, now],
      )
    else await reclaim(tx, of, now)
    await tx.query(
      `update write.annotation_item i set is_done =
         (select count(*) from write.annotation_claim t
           where t.queue_id = i.queue_id and t.item = i.item and t.state = 'answered') >= $3
        where i.queue_id = $1 and i.item = $2`,
      [data.queue_id, data.item, overlap],
    )
  }
}

/** The item is the person's again, with the answer as a draft; another one that they were at comes free. */
async function reclaim(tx: Transaction, of: (string | number)[], now: Date): Promise<void> {
  const [queue_id, item, username] = of
  await tx.query(
    `update write.annotation_claim set expires_at = $4
      where queue_id = $1 and item <> $2 and username = $3 and state = 'claimed' and expires_at > $4`,
    [queue_id, item, username, now],
  )
  await tx.query(
    `update write.annotation_claim
        set state = 'claimed', draft = answer, answer = null, decided_at = null, expires_at = $4
      where queue_id = $1 and item = $2 and username = $3`,
    [queue_id, item, username, leaseFrom(now)],
  )
}
