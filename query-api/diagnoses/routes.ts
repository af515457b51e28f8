import { type Selectable, sql } from 'kysely'
import { Type } from 'typebox'
import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Clock } from '../../platform/time.ts'
import type { DiagnosisTables } from '../../projector/diagnoses/table.ts'
import {
  type Diagnosis,
  diagnosis,
  diagnosisInPath,
  diagnosisListQuery,
} from '../../schemas/diagnoses.ts'
import { runIdInPath } from '../../schemas/shared.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { type AccessTables, findRun, mayReadRun } from '../access.ts'
import { countRows, pageHeaders } from '../page.ts'
import type { Reads } from '../reads.ts'

type Tables = DiagnosisTables & AccessTables
type Row = Selectable<DiagnosisTables['diagnoses']>

export const diagnosisRoutes = (reads: Reads<Tables>, now: Clock): Route[] => [
  route({
    method: 'GET',
    path: '/api/diagnoses/{diagnosis_id}',
    credential: 'person',
    reach: 'its_people',
    tag: 'diagnoses',
    summary: 'Why a run failed, as far as the rules know, with the evidence',
    params: diagnosisInPath,
    response: diagnosis,
    refusals: ['not_found'],
    async handle({ caller, params: { diagnosis_id } }) {
      const missing = () => new Refusal('not_found', `No such diagnosis: ${diagnosis_id}`)
      const row = await reads
        .as(caller)
        .selectFrom('diagnoses')
        .selectAll()
        .where('diagnosis_id', '=', diagnosis_id)
        .executeTakeFirst()
      if (!row) throw missing()
      // The person who asks must be allowed to read the run, also where there is no row-level security.
      await findRun(reads, caller, row.run_id).catch(error => {
        throw error instanceof Refusal ? missing() : error
      })
      const similar = await similarRuns(reads, caller, [row], now())
      return toRecord(row, similar)
    },
  }),
  ...(['/api/jobs/{run_id}/diagnoses', '/api/runs/{run_id}/diagnoses'] as const).map(path =>
    route({
      method: 'GET',
      path,
      credential: 'person',
      reach: 'its_people',
      tag: 'diagnoses',
      summary: 'The diagnoses of a run, the newest first',
      params: runIdInPath,
      query: diagnosisListQuery,
      response: Type.Array(diagnosis),
      refusals: ['not_found'],
      async handle({ caller, params, query, ctx }) {
        const noun = path.startsWith('/api/jobs/') ? 'job' : 'run'
        const { run_id, db } = await findRun(reads, caller, params.run_id, noun)
        const { limit = 50, offset = 0 } = query
        const ofRun = db.selectFrom('diagnoses').where('run_id', '=', run_id)
        const rows = await ofRun
          .selectAll()
          .orderBy('diagnosis_id', 'desc')
          .limit(limit)
          .offset(offset)
          .execute()
        pageHeaders(
          ctx,
          { limit, offset, shown: rows.length },
          await countRows(db, ofRun.select('diagnosis_id')),
        )
        const similar = await similarRuns(reads, caller, rows, now())
        return rows.map(row => toRecord(row, similar))
      },
    }),
  ),
]

type Similar = ReadonlyMap<string, Diagnosis['similar']>

const similarDays = 30
const shownRuns = 10

/** By fingerprint: other runs that failed in the same way, of those that the caller may read. */
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

const maybe = (at: Date | null) => at && toTimestamp(at)

function toRecord(
  { verdict, created_at, started_at, finished_at, analyzer, ...row }: Row,
  similar: Similar,
): Diagnosis {
  return {
    ...row,
    job_id: row.run_id,
    created_at: toTimestamp(created_at),
    started_at: maybe(started_at),
    finished_at: maybe(finished_at),
    ...(verdict ?? noVerdict),
    similar: similar.get(row.fingerprint ?? '') ?? { count_30d: 0, run_ids: [] },
    analyzer,
    feedback: null,
  }
}
