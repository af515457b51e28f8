import type { Pool } from 'pg'
import type { RubricContent } from '../../events/rubrics.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  maxScoresKept,
  type ScoresFound,
  type ScoresInput,
  type ScoresLookup,
} from '../../schemas/rubrics/scores.ts'
import type { ValidationError } from '../../schemas/shared.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { Invalid } from '../../schemas/validate.ts'
import type { Transaction } from '../commit/event-store.ts'

/** Refuses scores of another version, off the scale, or of criteria that the rubric lacks. */
export function checkScores(rubric: RubricContent, { version, scores }: ScoresInput): void {
  const { owner, name, scale_min, scale_max } = rubric
  if (version !== rubric.version)
    throw new Refusal(
      'conflict',
      `${owner}/${name} is at version ${rubric.version}; scores of version ${version} are no longer kept`,
      { code: 'rubric.outdated', data: { version: rubric.version } },
    )
  const criteria = new Set(rubric.criteria.map(criterion => criterion.name))
  const faults = scores.flatMap((scored, index) => {
    const of = (field: string[], input: unknown, msg: string): ValidationError => ({
      ...{ loc: ['body', 'scores', index, ...field], msg, type: 'value_error', input },
    })
    const isOff = scored.score < scale_min || scored.score > scale_max
    const unknown = Object.keys(scored.criteria ?? {}).filter(one => !criteria.has(one))
    return [
      ...(isOff
        ? [of(['score'], scored.score, `The scale is from ${scale_min} to ${scale_max}`)]
        : []),
      ...unknown.map(one => of(['criteria', one], one, `${owner}/${name} has no such criterion`)),
    ]
  })
  if (faults.length > 0) throw new Invalid(faults)
}

/** Scores by deployments come with their reasons. */
type WithReasons = Omit<ScoresInput, 'scores'> & {
  scores: (ScoresInput['scores'][number] & { reason?: string })[]
}
type Stored = { stored: number; replaced: number }

/** Under the lock of the rubric's stream, so that the next version counts all scores of this one. */
export async function storeScores(
  tx: Transaction,
  { owner, name }: RubricContent,
  { version, judge, scores }: WithReasons,
  now: Date,
  most = maxScoresKept,
): Promise<Stored> {
  const of = [owner, name, version]
  // If a sample has several scores, the last one wins.
  const bySample = [...new Map(scores.map(scored => [scored.sample, scored])).values()]
  const { rows } = await tx.query<{ is_new: boolean }>(
    `insert into write.rubric_score (owner, name, version, judge, sample, score, criteria, reason, scored_at)
     select $1, $2, $3, $4, s.sample, s.score, coalesce(s.criteria, '{}'), s.reason, $6
       from jsonb_to_recordset($5) as s (sample text, score float8, criteria jsonb, reason text)
     on conflict (owner, name, version, judge, sample) do update
       set score = excluded.score, criteria = excluded.criteria, reason = excluded.reason, scored_at = excluded.scored_at
     returning xmax = 0 as is_new`,
    [...of, judge, JSON.stringify(bySample), now],
  )
  const stored = rows.filter(({ is_new }) => is_new).length
  const counted = await tx.query<{ scores: number }>(
    `insert into write.rubric_score_version as v (owner, name, version, scores) values ($1, $2, $3, $4)
     on conflict (owner, name, version) do update set scores = v.scores + $4 returning scores`,
    [...of, stored],
  )
  const tooMany = (counted.rows[0]?.scores ?? 0) - most
  if (tooMany > 0) await forgetOldest(tx, of, tooMany + Math.floor(most / 10))
  return { stored, replaced: rows.length - stored }
}

/** Deletes some more than necessary, so that not every call has to sort them. */
async function forgetOldest(tx: Transaction, of: unknown[], count: number): Promise<void> {
  await tx.query(
    `with gone as (
       delete from write.rubric_score
        where ctid = any(array(
          select ctid from write.rubric_score where owner = $1 and name = $2 and version = $3
           order by scored_at limit $4))
        returning 1)
     update write.rubric_score_version set scores = scores - (select count(*) from gone)
      where owner = $1 and name = $2 and version = $3`,
    [...of, count],
  )
}

export async function findScores(
  pool: Pool,
  { owner, name, version }: RubricContent,
  { judge, samples }: ScoresLookup,
): Promise<ScoresFound> {
  type Row = Omit<ScoresFound['scores'][number], 'scored_at'> & { scored_at: Date }
  const { rows } = await pool.query<Row>(
    `select sample, score, criteria, scored_at from write.rubric_score
      where owner = $1 and name = $2 and version = $3 and judge = $4 and sample = any($5)`,
    [owner, name, version, judge, samples],
  )
  const bySample = new Map(rows.map(row => [row.sample, row]))
  const asked = [...new Set(samples)]
  return {
    version,
    judge,
    scores: asked.flatMap(sample => {
      const row = bySample.get(sample)
      return row ? [{ ...row, scored_at: toTimestamp(row.scored_at) }] : []
    }),
    missing: asked.filter(sample => !bySample.has(sample)),
  }
}

/** The newest score of each sample by this version, of any judge. */
export async function newestScores(
  pool: Pool,
  { owner, name, version }: RubricContent,
  samples: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await pool.query<{ sample: string; score: number }>(
    `select distinct on (sample) sample, score from write.rubric_score
      where owner = $1 and name = $2 and version = $3 and sample = any($4)
      order by sample, scored_at desc, judge`,
    [owner, name, version, samples],
  )
  return new Map(rows.map(({ sample, score }) => [sample, score]))
}

/** Marks the scores of all earlier versions, and counts the newly marked ones. */
export async function retireScores(
  tx: Transaction,
  { owner, name, version }: RubricContent,
  now: Date,
): Promise<number> {
  const { rows } = await tx.query<{ scores: number }>(
    `update write.rubric_score_version set retired_at = $4
      where owner = $1 and name = $2 and version < $3 and retired_at is null returning scores`,
    [owner, name, version, now],
  )
  return rows.reduce((sum, { scores }) => sum + scores, 0)
}
