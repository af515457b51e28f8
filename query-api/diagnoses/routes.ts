import { type Selectable, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { Route } from '../../auth/route.ts'
import type { Clock } from '../../platform/time.ts'
import type { DiagnosisTables } from '../../projector/diagnoses/table.ts'
import {
  type Diagnosis,
  diagnosis,
  diagnosisInPath,
  diagnosisListQuery,
} from '../../schemas/diagnoses.ts'
import { toTimestamp, toTimestampOrNull } from '../../schemas/timestamp.ts'
import { list, one } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'
import { type AccessTables, mayReadRun, mayReadRunOf, ofRun } from '../rules/access.ts'
import { fingerprintRoute } from './fingerprints.ts'

export type Tables = DiagnosisTables & AccessTables
type Row = Selectable<DiagnosisTables['diagnoses']>

export const diagnosisRoutes = (reads: Reads<Tables>, now: Clock): Route[] => [
  fingerprintRoute(reads, now),
  one({
    ...asCaller(reads),
    path: '/api/diagnoses/{diagnosis_id}',
    reach: 'its_people',
    tag: 'diagnoses',
    summary: 'Why a run failed, as far as the rules know, with the evidence',
    params: diagnosisInPath,
    response: diagnosis,
    missing: ({ diagnosis_id }) => `No such diagnosis: ${diagnosis_id}`,
    async read({ db }, { caller, params: { diagnosis_id } }) {
      const row = await db
        .selectFrom('diagnoses')
        .selectAll()
        .where('diagnosis_id', '=', diagnosis_id)
        .executeTakeFirst()
      if (!row || !(await mayReadRunOf(reads, caller, row))) return
      return toRecord(row, await similarRuns(reads, caller, [row], now()))
    },
  }),
  listRoute(reads, now, '/api/jobs/{run_id}/diagnoses', 'job'),
  listRoute(reads, now, '/api/runs/{run_id}/diagnoses', 'run'),
]

const listRoute = (reads: Reads<Tables>, now: Clock, path: string, noun: 'run' | 'job'): Route =>
  list({
    ...ofRun(reads, noun),
    path,
    tag: 'diagnoses',
    summary: 'The diagnoses of a run, newest first',
    query: diagnosisListQuery,
    row: diagnosis,
    matching: ({ db, run_id }) => db.selectFrom('diagnoses').where('run_id', '=', run_id),
    select: diagnoses => diagnoses.selectAll().orderBy('diagnosis_id', 'desc'),
    async shape(rows, _, { caller }) {
      const similar = await similarRuns(reads, caller, rows, now())
      return rows.map(row => toRecord(row, similar))
    },
  })

type Similar = ReadonlyMap<string, Diagnosis['similar']>

const similarDays = 30
const shownRuns = 10

/** Other runs that failed in the same way and that the caller may read, by fingerprint. */
async function similarRuns(
  reads: Reads<Tables>,
  caller: Person,
  rows: readonly Row[],
  now: Date,
): Promise<Similar> {
  const [first] = rows
  const fingerprints = rows.flatMap(({ fingerprint }) => fingerprint ?? [])
  if (!first || fingerprints.length === 0) return new Map()
  const since = new Date(now.getTime() - similarDays * 86_400_000)
  const found = await sql<{ fingerprint: string; count_30d: number; run_ids: string[] }>`
    select fingerprint, count(*)::integer as count_30d,
           (array_agg(run_id order by newest desc, run_id))[1:${sql.lit(shownRuns)}] as run_ids
      from (select d.fingerprint, d.run_id, max(d.diagnosis_id) as newest
              from diagnoses d join runs r on r.run_id = d.run_id
             where d.fingerprint = any(${fingerprints}) and d.created_at > ${since}
               and d.run_id <> ${first.run_id} and r.deleted_at is null and ${mayReadRun(caller)}
             group by d.fingerprint, d.run_id) alike
     group by fingerprint`.execute(reads.as(caller))
  return new Map(
    found.rows.map(({ fingerprint, count_30d, run_ids }) => [fingerprint, { count_30d, run_ids }]),
  )
}

const noVerdict = {
  category: null,
  subcategory: null,
  blame: null,
  confidence: null,
  title: null,
  root_cause: null,
  origin: null,
  evidence: null,
  suggestions: null,
  fingerprint: null,
}

function toRecord(
  { verdict, created_at, started_at, finished_at, analyzer, comments, ...row }: Row,
  similar: Similar,
): Diagnosis {
  return {
    ...row,
    job_id: row.run_id,
    created_at: toTimestamp(created_at),
    started_at: toTimestampOrNull(started_at),
    finished_at: toTimestampOrNull(finished_at),
    ...(verdict ?? noVerdict),
    similar: similar.get(row.fingerprint ?? '') ?? { count_30d: 0, run_ids: [] },
    analyzer,
    comments: comments.map(one => ({ ...one, at: toTimestamp(new Date(one.at)) })),
    feedback: null,
  }
}
