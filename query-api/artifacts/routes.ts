import { type Kysely, sql } from 'kysely'
import { Type } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import {
  type Artifact,
  artifact,
  artifactInPath,
  artifactListQuery,
  isInStore,
} from '../../schemas/artifacts.ts'
import { runIdInPath } from '../../schemas/shared.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { findRun } from '../access.ts'
import { countRows, pageHeaders } from '../page.ts'
import type { Reads } from '../reads.ts'
import { type Contents, contentRoutes } from './content.ts'
import { type ArtifactRow, findArtifact, type Tables } from './find.ts'

type Db = Kysely<Tables>

export const artifactRoutes = (contents: Contents): Route[] => [
  ...listRoutes(contents.reads),
  route({
    method: 'GET',
    path: '/api/artifacts/{artifact_id}',
    credential: 'person',
    reach: 'its_people',
    tag: 'artifacts',
    summary: 'One artifact',
    params: artifactInPath,
    response: artifact,
    refusals: ['not_found'],
    async handle({ caller, params: { artifact_id } }) {
      const row = await findArtifact(contents.reads, caller, artifact_id)
      const db = contents.reads.as(caller, [row.run_id])
      return toItem(row, await outstanding(db, row.run_id))
    },
  }),
  ...contentRoutes(contents),
]

const listRoutes = (reads: Reads<Tables>): Route[] =>
  (['/api/jobs/{run_id}/artifacts', '/api/runs/{run_id}/artifacts'] as const).map(path =>
    route({
      method: 'GET',
      path,
      credential: 'person',
      reach: 'its_people',
      tag: 'artifacts',
      summary: 'What the run produced, the newest step first',
      params: runIdInPath,
      query: artifactListQuery,
      response: Type.Array(artifact),
      refusals: ['not_found'],
      async handle({ caller, params, query, ctx }) {
        const noun = path.startsWith('/api/jobs/') ? 'job' : 'run'
        const { run_id, db } = await findRun(reads, caller, params.run_id, noun)
        const { limit = 50, offset = 0, kind } = query
        const ofRun = db
          .selectFrom('artifacts')
          .where('run_id', '=', run_id)
          .$if(kind !== undefined, one => one.where('kind', '=', kind ?? 'checkpoint'))
        const rows = await ofRun
          .selectAll()
          .orderBy('step', order => order.desc().nullsLast())
          .orderBy('created_at', 'desc')
          .orderBy('artifact_id', 'desc')
          .limit(limit)
          .offset(offset)
          .execute()
        pageHeaders(ctx, { limit, offset }, await countRows(db, ofRun.select('artifact_id')))
        const marks = await outstanding(db, run_id)
        return rows.map(row => toItem(row, marks))
      },
    }),
  )

type Marks = { latest: string | null; best: string | null }

const toItem = ({ created_at, ...row }: ArtifactRow, { latest, best }: Marks): Artifact => ({
  ...row,
  file_count: isInStore(row.path) ? 1 : null,
  is_best: row.artifact_id === best,
  is_latest: row.artifact_id === latest,
  init_from: nextStage(row.kind, row.artifact_id),
  protected_by: [],
  expires_at: null,
  created_at: toTimestamp(created_at),
})

/** The `init_from` of a next stage, with every way to load this kind of artifact. */
function nextStage(kind: Artifact['kind'], artifact_id: string): Artifact['init_from'] {
  switch (kind) {
    case 'checkpoint':
      return { artifact_id, load: ['weights', 'full_state'] }
    case 'hf_export':
    case 'merged_model':
      return { artifact_id, load: ['weights'] }
    case 'eval_report':
      return null
  }
}

/** The newest checkpoint of a run, and its best one by the metric that its spec names. */
async function outstanding(db: Db, runId: string): Promise<Marks> {
  const { rows } = await sql<Marks>`
    select (select artifact_id from artifacts where run_id = r.run_id and kind = 'checkpoint' and status <> 'missing'
             order by step desc nulls last, created_at desc, artifact_id desc limit 1) as latest,
           (select artifact_id from artifacts a where run_id = r.run_id and kind = 'checkpoint' and status <> 'missing'
               and metrics ? r.best_key
             order by case when r.best_goal = 'max' then -1 else 1 end * (metrics ->> r.best_key)::float8,
                      step desc nulls last, created_at desc, artifact_id desc limit 1) as best
      from runs r where r.run_id = ${runId}`.execute(db)
  return rows[0] ?? { latest: null, best: null }
}
