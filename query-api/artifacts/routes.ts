import type { Route } from '../../auth/route.ts'
import {
  type Artifact,
  artifact,
  artifactListQuery,
  presentStatuses,
} from '../../schemas/artifacts/artifacts.ts'
import { isInStore } from '../../schemas/artifacts/in-store.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { list, one } from '../reading/list.ts'
import type { Reads } from '../reading/reads.ts'
import { ofRun } from '../rules/access.ts'
import { type Contents, contentRoutes } from './content.ts'
import { type ArtifactRow, ofArtifact, type Tables } from './find.ts'
import { type Standings, standings } from './standings.ts'

export const artifactRoutes = (contents: Contents): Route[] => [
  listRoute(contents.reads, '/api/jobs/{run_id}/artifacts', 'job'),
  listRoute(contents.reads, '/api/runs/{run_id}/artifacts', 'run'),
  one({
    ...ofArtifact(contents.reads),
    path: '/api/artifacts/{artifact_id}',
    tag: 'artifacts',
    summary: 'One artifact',
    response: artifact,
    async read(row, { caller }) {
      const [item] = await toItems({ reads: contents.reads, caller, run_id: row.run_id }, [row])
      return item
    },
  }),
  ...contentRoutes(contents),
]

const listRoute = (reads: Reads<Tables>, path: string, noun: 'run' | 'job'): Route =>
  list({
    ...ofRun(reads, noun),
    path,
    tag: 'artifacts',
    summary: 'What the run produced and did not delete, the newest step first',
    query: artifactListQuery,
    row: artifact,
    matching: ({ db, run_id }, { query: { kind, status } }) =>
      db
        .selectFrom('artifacts')
        .where('run_id', '=', run_id)
        .$if(kind !== undefined, one => one.where('kind', '=', kind ?? 'checkpoint'))
        .$if(status === undefined, one => one.where('status', '<>', 'deleted'))
        .$if(status !== undefined && status !== 'all', one =>
          one.where('status', '=', status as Artifact['status']),
        ),
    select: artifacts =>
      artifacts
        .selectAll()
        .orderBy('step', order => order.desc().nullsLast())
        .orderBy('created_at', 'desc')
        .orderBy('artifact_id', 'desc'),
    shape: (rows, { run_id }, { caller }) => toItems({ reads, caller, run_id }, rows),
  })

type OfRun = Parameters<typeof standings>[0]

async function toItems(ofRun: OfRun, rows: readonly ArtifactRow[]): Promise<Artifact[]> {
  const standing = await standings(ofRun, rows)
  return rows.map(row => toItem(row, standing))
}

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

/** The `init_from` for a next stage, with every way to load this kind of artifact. */
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
