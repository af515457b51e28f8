import { Type } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import {
  type Artifact,
  artifact,
  artifactInPath,
  artifactListQuery,
  isInStore,
  presentStatuses,
} from '../../schemas/artifacts.ts'
import { runIdInPath } from '../../schemas/shared.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { findRun } from '../access.ts'
import { countRows, pageHeaders } from '../page.ts'
import type { Reads } from '../reads.ts'
import { type Contents, contentRoutes } from './content.ts'
import { type ArtifactRow, findArtifact, type Tables } from './find.ts'
import { type Standings, standings } from './standings.ts'

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
      const read = { reads: contents.reads, caller, run_id: row.run_id }
      return toItem(row, await standings(read, [row]))
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
      summary: 'What the run produced and did not delete, the newest step first',
      params: runIdInPath,
      query: artifactListQuery,
      response: Type.Array(artifact),
      refusals: ['not_found'],
      async handle({ caller, params, query, ctx }) {
        const noun = path.startsWith('/api/jobs/') ? 'job' : 'run'
        const { run_id, db } = await findRun(reads, caller, params.run_id, noun)
        const { limit = 50, offset = 0, kind, status } = query
        const ofRun = db
          .selectFrom('artifacts')
          .where('run_id', '=', run_id)
          .$if(kind !== undefined, one => one.where('kind', '=', kind ?? 'checkpoint'))
          .$if(status === undefined, one => one.where('status', '<>', 'deleted'))
          .$if(status !== undefined && status !== 'all', one =>
            one.where('status', '=', status as Artifact['status']),
          )
        const rows = await ofRun
          .selectAll()
          .orderBy('step', order => order.desc().nullsLast())
          .orderBy('created_at', 'desc')
          .orderBy('artifact_id', 'desc')
          .limit(limit)
          .offset(offset)
          .execute()
        pageHeaders(
          ctx,
          { limit, offset, shown: rows.length },
          await countRows(db, ofRun.select('artifact_id')),
        )
        const standing = await standings({ reads, caller, run_id }, rows)
        return rows.map(row => toItem(row, standing))
      },
    }),
  )

const toItem = (
  { created_at, deleted_at, ...row }: ArtifactRow,
  { latest, best, protectedBy }: Standings,
): Artifact => ({
  ...row,
  file_count: isInStore(row.path) ? 1 : null,
  is_best: row.artifact_id === best,
  is_latest: row.artifact_id === latest,
  init_from: isPresent(row) ? nextStage(row.kind, row.artifact_id) : null,
  protected_by: protectedBy.get(row.artifact_id) ?? [],
  expires_at: null,
  created_at: toTimestamp(created_at),
  deleted_at: deleted_at && toTimestamp(deleted_at),
})

const isPresent = ({ status }: Pick<ArtifactRow, 'status'>) =>
  presentStatuses.some(one => one === status)

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
