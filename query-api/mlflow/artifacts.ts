import type { Context } from 'koa'
import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import { presentStatuses, storedName } from '../../schemas/artifacts/artifacts.ts'
import {
  artifactsQuery,
  artifactUri,
  type Facade,
  filesAnswer,
  mlflowFormat,
  proxiedArtifact,
  proxiedArtifacts,
} from '../../schemas/mlflow.ts'
import { type MlflowCaller, type MlflowReads, type RunInScope, runInScope } from './scope.ts'

export const artifactRoutes = (reads: MlflowReads, facade: Facade): Route[] => [
  route({
    ...under(facade, 'mlflow/artifacts/list'),
    ...ofItsPeople(facade),
    summary: 'MLflow: list the artifacts of a run in a folder',
    query: artifactsQuery,
    response: filesAnswer,
    refusals: ['forbidden', 'not_found'],
    async handle({ caller, query: { run_id: asked, path = '' } }) {
      const run = await runInScope(reads, caller, asked)
      const files = inFolder(await readFiles(run), path)
      return { root_uri: artifactUri(run.run_id), files }
    },
  }),
  route({
    ...under(facade, 'mlflow-artifacts/artifacts'),
    summary: 'MLflow: list the artifacts below a path, which begins with the run',
    query: proxiedArtifacts,
    response: filesAnswer,
    handle: async ({ caller, query: { path = '' } }) => ({
      files: await listBelow(reads, caller, path),
    }),
  }),
  route({
    ...under(facade, 'mlflow-artifacts/artifacts/{run_id}/{+path}'),
    ...ofItsPeople(facade),
    summary: 'MLflow: the bytes of an artifact of a run',
    params: proxiedArtifact,
    response: { mediaType: 'application/octet-stream', description: 'the bytes' },
    refusals: ['forbidden', 'not_found', 'range_not_satisfiable', 'backend_failed'],
    async handle({ caller, params: { run_id, path }, ctx }) {
      await sendArtifact(reads, ctx, await runInScope(reads, caller, run_id), path)
    },
  }),
]

const under = ({ mount, credential }: Facade, path: string) => ({
  method: 'GET' as const,
  path: `${mount}/api/2.0/${path}`,
  credential,
  tag: 'mlflow',
  readsOwnWrites: true,
})
const ofItsPeople = ({ credential }: Facade) =>
  credential === 'person' ? { reach: 'its_people' as const } : {}

type File = { size_bytes: number; sha256: string }

/** The files that MLflow's clients sent, by path; the newest if a path has several. */
async function readFiles({ db, run_id }: RunInScope): Promise<Map<string, File>> {
  const rows = await db
    .selectFrom('artifacts')
    .select(['path', 'size_bytes', 'sha256'])
    .where('run_id', '=', run_id)
    .where('kind', '=', 'eval_report')
    .where('format', '=', mlflowFormat)
    .where('status', 'in', presentStatuses)
    .orderBy('created_at')
    .orderBy('artifact_id')
    .execute()
  return new Map(
    rows.flatMap(({ path, size_bytes, sha256 }) => {
      const name = storedName(path)
      return name === null || size_bytes === null || sha256 === null
        ? []
        : [[name, { size_bytes, sha256 }]]
    }),
  )
}

type Entry = { path: string; is_dir: boolean; file_size?: number }

/**
 * The direct contents of a folder, with paths from the root. MLflow treats a file as a folder that contains itself.
 */
function inFolder(files: ReadonlyMap<string, File>, folder: string): Entry[] {
  const prefix = folder === '' ? '' : `${folder.replace(/\/+$/, '')}/`
  const entries = new Map<string, Entry>()
  for (const [path, { size_bytes }] of files) {
    if (!path.startsWith(prefix)) continue
    const [name = '', ...rest] = path.slice(prefix.length).split('/')
    const at = `${prefix}${name}`
    const isFile = rest.length === 0
    entries.set(at, { path: at, is_dir: !isFile, ...(isFile && { file_size: size_bytes }) })
  }
  return [...entries.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Below the run at the start of the path, and relative to it. Runs that the caller may not read look empty. */
async function listBelow(reads: MlflowReads, caller: MlflowCaller, path: string): Promise<Entry[]> {
  const [runId = '', ...rest] = path.split('/')
  const run = await runInScope(reads, caller, runId).catch(error => {
    if (error instanceof Refusal) return null
    throw error
  })
  if (run === null) return []
  const folder = rest.join('/')
  const entries = inFolder(await readFiles(run), folder)
  const cut = folder === '' ? 0 : folder.replace(/\/+$/, '').length + 1
  return entries.map(entry => ({ ...entry, path: entry.path.slice(cut) }))
}

async function sendArtifact(
  { sendContent }: MlflowReads,
  ctx: Context,
  run: RunInScope,
  path: string,
): Promise<void> {
  const file = (await readFiles(run)).get(path)
  if (!file) throw new Refusal('not_found', `No such artifact: ${path}`)
  const filename = path.slice(path.lastIndexOf('/') + 1)
  await sendContent(ctx, { sha256: file.sha256, filename })
}
