import { type Route, route } from '../../auth/route.ts'
import { packedSize, packFolder } from '../../platform/files/stored-folder.ts'
import { addressAsAsked } from '../../platform/http/asked-address.ts'
import { Refusal } from '../../platform/refusal.ts'
import { folderSuffix } from '../../schemas/artifacts/artifacts.ts'
import {
  cardFile,
  commitAnswer,
  commitBytes,
  commitInput,
  commitOf,
  type HubFacade,
  hubOwnedModelRevision,
  hubRepoRoute,
} from '../../schemas/hub-facade.ts'
import type { HttpAsked } from '../commit/asked.ts'
import type { Deps } from '../deps.ts'
import type { ModelHead } from '../rules/newest-model-version.ts'
import { parseCommitLines } from './commit-lines.ts'
import { refuseBranch } from './commit-route.ts'
import { filesAfter, type Head, headOfModel, isSame, type ModelFile } from './model-files.ts'
import { type HubPorts, type HubRequest, projectOf, writerOf } from './ports.ts'

/**
 * The files of a commit, and those of the newest version that it does not touch, become one artifact: of the run that calls, or of a
 * run without a job for it. The model gets that as its next version.
 */
export const modelCommitRoute = (deps: Deps, ports: HubPorts, facade: HubFacade): Route =>
  route({
    method: 'POST',
    ...hubRepoRoute(facade, 'api/models/{owner}/{name}/commit/{revision}'),
    summary:
      'Hub: make the next version of a model by adding files to its newest, or deleting some',
    params: hubOwnedModelRevision,
    body: commitInput,
    binaryBody: { mediaType: 'application/x-ndjson', parse: parseCommitLines },
    bodyLimitBytes: commitBytes,
    response: commitAnswer,
    refusals: [
      ...(['invalid', 'forbidden', 'not_found', 'conflict'] as const),
      ...(['precondition_failed', 'too_large', 'backend_failed'] as const),
    ],
    async handle(request) {
      const { caller, params, body, ctx } = request
      const { owner, name: model } = params
      const writer = await writerOf(deps.pool, caller)
      const { project } = await ports.models.toWrite({ owner, name: model }, writer)
      refuseBranch(params.revision, ctx.query.create_pr)
      await refuseOtherProject(deps, request, { model, project })
      const id = `${owner}/${model}`
      const head = await headOfModel(deps, ports, model)
      // An `Idempotency-Key` would be for one of several commands; the same files again make no other version anyway.
      const asked = { ...request, ctx: withoutKey(ctx) }
      const files = await filesAfter(deps, ports, asked, { id, writer, commit: body, head })
      const made = isSame(files, head)
        ? head
        : await makeVersion(deps, ports, asked, {
            ...{ id, model, project, files, head },
            ...{ summary: body.header.summary, license: await licenseIn(files) },
          })
      const commitOid = commitOf(made)
      const commitUrl = `${addressAsAsked(ctx, deps.baseUrl())}${facade.mount}/${id}/commit/${commitOid}`
      return { success: true, commitOid, commitUrl, hookOutput: '' }
    },
  })

const withoutKey = (ctx: HttpAsked['ctx']): HttpAsked['ctx'] => ({
  ...{ method: ctx.method, path: ctx.path },
  get: () => '',
  set: (name, value) => ctx.set(name, value),
})

/** A version of a model comes from its project. */
async function refuseOtherProject(
  { pool }: Deps,
  { caller }: HubRequest,
  { model, project }: { model: string; project: string },
): Promise<void> {
  const own = await projectOf(pool, caller)
  if (own === null || own === project) return
  throw new Refusal(
    'forbidden',
    `The model ${model} belongs to project ${project}, and this run to ${own}`,
    { code: 'hub.other_project' },
  )
}

type Making = {
  id: string
  model: string
  project: string
  files: readonly ModelFile[]
  head: Head
  summary: string
  license: string | null
}

async function makeVersion(
  deps: Deps,
  ports: HubPorts,
  request: HubRequest,
  { id, model, project, files, head, summary, license }: Making,
): Promise<ModelHead> {
  const { ofRuns, models } = ports
  const run = await runOf(ports, request, { id, project, summary })
  try {
    const { run_id } = run
    const filename = `${model}${folderSuffix}`
    const size_bytes = packedSize(files)
    const { upload_id } = await ofRuns.announce(
      request,
      { filename, size_bytes, content_type: 'application/gzip', sha256: null },
      run_id,
    )
    const opener = new Map(files.map(file => [file.path, file.open]))
    const open = ({ path }: { path: string }) => {
      const found = opener.get(path)
      if (!found) throw new Error(`${path} is not a file of the commit`)
      return found()
    }
    await deps.artifacts.receive(upload_id, 0, packFolder(files, open))
    const stored = await ofRuns.complete(request, { run_id, upload_id })
    const format = formatOf(files)
    const { artifact_id } = await ofRuns.register(request, {
      ...{ run_id, kind: 'hf_export', format, upload_id },
      ...stored,
    })
    const stage_notes = summary.slice(0, 4000)
    const of = { model, project, artifact_id, after: head.version, stage_notes, license }
    const made = await models.addVersion(request, of)
    await run.end('succeeded', null)
    return made
  } catch (error) {
    await run.end('failed', error instanceof Refusal ? error.detail.slice(0, 1000) : null)
    throw error
  }
}

type ForUpload = { id: string; project: string; summary: string }

/** The calling run, whose end is not ours; or a new one for the upload of a person, which ends with it. */
async function runOf(
  { ofRuns }: HubPorts,
  request: HubRequest,
  { id, project, summary }: ForUpload,
) {
  const { caller } = request
  if (caller.kind === 'run') return { run_id: caller.runId, end: async () => {} }
  const body = { project, name: `Upload of ${id}`, tags: ['hub'], notes: summary }
  const { run_id } = await ofRuns.createRun({ ...request, caller, body })
  const run = { short_id: null, source: 'external', control: 'none', ended_at: null } as const
  return {
    run_id,
    async end(event: 'succeeded' | 'failed', message: string | null) {
      await ofRuns.reportRun({ run_id, event, message }, run, request)
    },
  }
}

function formatOf(files: readonly ModelFile[]): string {
  const of = (ending: string) => files.some(({ path }) => path.endsWith(ending))
  return of('.safetensors') ? 'safetensors' : of('.gguf') ? 'gguf' : 'folder'
}

const maxCardBytes = 256 * 1024

/** What the metadata at the start of the card name. */
async function licenseIn(files: readonly ModelFile[]): Promise<string | null> {
  const card = files.find(({ path }) => path === cardFile)
  if (!card || card.size > maxCardBytes) return null
  const text = Buffer.concat(await (await card.open()).toArray()).toString()
  const [, metadata = ''] = /^---\r?\n([\s\S]*?)\n---/.exec(text) ?? []
  const [, license] =
    /^license:[ \t]*["']?([\x20-\x7e]{1,200}?)["']?[ \t]*\r?$/m.exec(metadata) ?? []
  return license ?? null
}
