import type { Pool } from 'pg'
import type { Person } from '../../auth/caller.ts'
import type { Route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  type Judgement,
  type JudgingRecord,
  judgement,
  judgementsQuery,
  judging,
  judgingPath,
  judgingsQuery,
} from '../../schemas/rubrics/judgings.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { pagedList } from '../reading/list.ts'
import type { Reads } from '../reading/reads.ts'
import { type AccessTables, ofRun } from '../rules/access.ts'

type Deps = { reads: Reads<AccessTables>; pool: Pool }

/** Judgings have no read model: their scores are a cache of the write side. */
export const judgingRoutes = ({ reads, pool }: Deps): Route[] => [
  pagedList({
    ...ofRun(reads),
    path: '/api/runs/{run_id}/judgings',
    tag: 'validation',
    summary: 'What deployments judge and have judged of a run, newest first',
    query: judgingsQuery,
    row: judging,
    async read({ run_id }, { caller, query: { step = null } }, page) {
      const rows = await readJudgings(pool, caller, { run_id, step, judging_id: null, ...page })
      return { rows: rows.map(toRecord), counted: rows[0]?.counted ?? 0 }
    },
  }),
  pagedList({
    ...ofRun(reads),
    path: '/api/runs/{run_id}/judgings/{judging_id}',
    tag: 'validation',
    summary: 'The scores of a judging, with the reasons of the judge',
    params: judgingPath,
    query: judgementsQuery,
    row: judgement,
    async read({ run_id }, { caller, params: { judging_id } }, page) {
      const one = { run_id, step: null, judging_id, limit: 1, offset: 0 }
      const [found] = await readJudgings(pool, caller, one)
      if (!found) throw new Refusal('not_found', `No such judging: ${judging_id}`)
      const rows = await readJudgements(pool, judging_id, page)
      const counted = found.scored + found.cached + found.failed
      return { rows, counted }
    },
  }),
]

type Asked = {
  run_id: string
  step: number | null
  judging_id: string | null
  limit: number
  offset: number
}
type Row = Omit<JudgingRecord, 'judge' | 'created_at' | 'ended_at'> & {
  deployment_id: string | null
  revision_id: string
  created_at: Date
  ended_at: Date | null
  counted: number
}

/** Only judgings by rubrics that the caller may read; a deployment that they may not see is left out. */
async function readJudgings(
  pool: Pool,
  { username, role }: Person,
  { run_id, step, judging_id, limit, offset }: Asked,
): Promise<Row[]> {
  const { rows } = await pool.query<Row>({
    name: 'judgings_of_run',
    text: `with found as (
             select j.*, count(*) over ()::int as counted,
                    not exists (select from write.rubric_score_version v
                                 where v.owner = j.rubric_owner and v.name = j.rubric
                                   and v.version = j.version and v.retired_at is not null) as is_current
               from write.judging j
               join write.resource r on r.kind = 'rubric' and r.id = j.rubric_owner || '/' || j.rubric
              where j.run_id = $1 and ($2::bigint is null or j.step = $2) and ($3::text is null or j.judging_id = $3)
                and (r.visibility = 'public' or r.owner = $4 or $5)
              order by j.created_at desc, j.judging_id desc limit $6 offset $7)
           select f.judging_id, f.run_id, f.step::float8 as step, f.rubric_owner || '/' || f.rubric as rubric, f.version,
                  f.is_current, d.id as deployment_id, f.revision_id, f.state, f.reason, f.samples,
                  c.scored, c.cached, c.failed, c.mean, f.username as requested_by, f.created_at, f.ended_at, f.counted
             from found f
             left join write.resource d on d.kind = 'deployment' and d.id = f.deployment_id
              and write.may_read(d.owner, d.project, $4, $5)
             cross join lateral (
               select count(*) filter (where o.outcome = 'scored')::int as scored,
                      count(*) filter (where o.outcome = 'cached')::int as cached,
                      count(*) filter (where o.outcome = 'failed')::int as failed, avg(s.score) as mean
                 from write.judgement o left join write.rubric_score s
                   on s.owner = f.rubric_owner and s.name = f.rubric and s.version = f.version
                  and s.judge = f.deployment_id || '@' || f.revision_id and s.sample = o.sample
                where o.judging_id = f.judging_id) c
            order by f.created_at desc, f.judging_id desc`,
    values: [run_id, step, judging_id, username, role === 'admin', limit, offset],
  })
  return rows
}

function toRecord({ deployment_id, revision_id, counted: _, ...row }: Row): JudgingRecord {
  return {
    ...row,
    judge: deployment_id === null ? null : { deployment_id, revision_id },
    created_at: toTimestamp(row.created_at),
    ended_at: row.ended_at && toTimestamp(row.ended_at),
  }
}

type Page = { limit: number; offset: number }

/** Scores that the rubric's next version retired are null. */
async function readJudgements(
  pool: Pool,
  judging_id: string,
  { limit, offset }: Page,
): Promise<Judgement[]> {
  const { rows } = await pool.query<Judgement>({
    name: 'judgements_of_judging',
    text: `select o.sample_id, o.outcome, o.error, s.score, coalesce(s.criteria, '{}') as criteria, s.reason
             from write.judgement o join write.judging j using (judging_id)
             left join write.rubric_score s
               on s.owner = j.rubric_owner and s.name = j.rubric and s.version = j.version
              and s.judge = j.deployment_id || '@' || j.revision_id and s.sample = o.sample
            where o.judging_id = $1 order by o.sample_id limit $2 offset $3`,
    values: [judging_id, limit, offset],
  })
  return rows
}
