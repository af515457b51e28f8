import type { Pool } from 'pg'
import type { Person } from '../../../auth/caller.ts'
import type { Judging, JudgingEvent, JudgingRequest } from '../../../events/judgings.ts'
import { type RubricContent, rubricAt } from '../../../events/rubrics.ts'
import type { JudgingRecord } from '../../../schemas/rubrics/judgings.ts'
import type { Decided } from '../../commit/commit.ts'
import { transact } from '../../commit/commit.ts'
import type { Transaction } from '../../commit/event-store.ts'
import { loadState } from '../../commit/snapshots.ts'
import type { Deps } from '../../deps.ts'
import { checkScores, storeScores } from '../scores.ts'
import type { Answer } from './ask.ts'

type Db = Pool | Transaction

export async function insertJudging(tx: Transaction, of: JudgingRequest, now: Date): Promise<void> {
  await tx.query(
    `insert into write.judging (judging_id, run_id, step, rubric_owner, rubric, version,
       deployment_id, revision_id, username, state, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'running', $10)`,
    [
      ...[of.judging_id, of.run_id, of.step, of.rubric_owner, of.rubric, of.version],
      ...[of.deployment_id, of.revision_id, of.username, now],
    ],
  )
}

export async function closeJudging(
  tx: Transaction,
  { events, now }: Decided<Judging, JudgingEvent>,
): Promise<void> {
  for (const { type, data } of events)
    if (type !== 'judging.requested')
      await tx.query(
        'update write.judging set state = $2, reason = $3, ended_at = $4 where judging_id = $1',
        [
          data.judging_id,
          ...(type === 'judging.ended' ? [data.state, data.reason] : ['cancelled', null]),
          now,
        ],
      )
}

export type JudgingState = JudgingRecord['state']

/** The state of a judging, and who asked for it. Null if there is none, or its rubric is hidden from this person. */
export async function findJudging(
  db: Db,
  { run_id, judging_id }: { run_id: string; judging_id: string },
  { username, role }: Pick<Person, 'username' | 'role'>,
): Promise<{ state: JudgingState; username: string } | null> {
  const { rows } = await db.query<{ state: JudgingState; username: string }>(
    `select j.state, j.username from write.judging j
       join write.resource r on r.kind = 'rubric' and r.id = j.rubric_owner || '/' || j.rubric
      where j.run_id = $1 and j.judging_id = $2 and (r.visibility = 'public' or r.owner = $3 or $4)`,
    [run_id, judging_id, username, role === 'admin'],
  )
  return rows[0] ?? null
}

export async function isJudging(db: Db, judging_id: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from write.judging where judging_id = $1 and state = 'running'`,
    [judging_id],
  )
  return rowCount === 1
}

export const setSamples = (db: Db, judging_id: string, samples: number) =>
  db.query('update write.judging set samples = $2 where judging_id = $1', [judging_id, samples])

/** The samples that have an outcome. */
export async function outcomesOf(db: Db, judging_id: string): Promise<Set<string>> {
  const { rows } = await db.query<{ sample_id: string }>(
    'select sample_id from write.judgement where judging_id = $1',
    [judging_id],
  )
  return new Set(rows.map(row => row.sample_id))
}

type Counts = { scored: number; cached: number; failed: number }

export async function countOutcomes(db: Db, judging_id: string): Promise<Counts> {
  const { rows } = await db.query<Counts>(
    `select count(*) filter (where outcome = 'scored')::int as scored,
            count(*) filter (where outcome = 'cached')::int as cached,
            count(*) filter (where outcome = 'failed')::int as failed
       from write.judgement where judging_id = $1`,
    [judging_id],
  )
  if (!rows[0]) throw new Error('a count returned no row')
  return rows[0]
}

/** Equal samples of a judging, and who judges them. */
export type Kept = { judging_id: string; judge: string; sample: string; sample_ids: string[] }

/** Notes a score that this judge has given before; false if there is none. */
export async function keepKnown(
  pool: Pool,
  { owner, name, version }: RubricContent,
  of: Kept,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `select 1 from write.rubric_score
      where owner = $1 and name = $2 and version = $3 and judge = $4 and sample = $5`,
    [owner, name, version, of.judge, of.sample],
  )
  if (!rowCount) return false
  await insertOutcome(pool, of, 'cached', null)
  return true
}

const system = { type: 'system', id: 'judge', via: 'duty' } as const

/** The score, under the lock of its rubric, together with the outcome. Refuses if the rubric has another version meanwhile. */
export async function keepAnswer(
  deps: Deps,
  { owner, name, version }: RubricContent,
  of: Kept,
  answer: Answer,
): Promise<void> {
  if (!answer.ok) return insertOutcome(deps.pool, of, 'failed', answer.error)
  const target = rubricAt({ owner, name })
  await transact(
    deps,
    { actor: system, requestId: of.judging_id },
    {
      ...{ target, locks: [] },
      async make({ tx, now }) {
        const { state } = await loadState(deps.store, tx, target)
        if (!state) throw new Error('a rubric is gone')
        const { score, criteria, reason } = answer.score
        const scores = {
          version,
          judge: of.judge,
          scores: [{ sample: of.sample, score, criteria, reason }],
        }
        checkScores(state.content, scores)
        await storeScores(tx, state.content, scores, now)
        await insertOutcome(tx, of, 'scored', null)
      },
    },
  )
}

async function insertOutcome(
  db: Db,
  { judging_id, sample, sample_ids }: Kept,
  outcome: 'scored' | 'cached' | 'failed',
  error: string | null,
): Promise<void> {
  await db.query(
    `insert into write.judgement (judging_id, sample_id, sample, outcome, error)
     select $1, sample_id, $3, $4, $5 from unnest($2::text[]) as sample_id on conflict do nothing`,
    [judging_id, sample_ids, sample, outcome, error],
  )
}

/** The texts of judges may quote samples, which are gone with their run. */
export async function deleteJudgings(tx: Transaction, run_id: string): Promise<void> {
  await tx.query(
    `update write.rubric_score s set reason = null
       from write.judging j join write.judgement o using (judging_id)
      where j.run_id = $1 and s.owner = j.rubric_owner and s.name = j.rubric and s.version = j.version
        and s.sample = o.sample and s.reason is not null`,
    [run_id],
  )
  await tx.query('delete from write.judging where run_id = $1', [run_id])
}
