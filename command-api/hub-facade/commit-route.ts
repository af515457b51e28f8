import { type Route, route } from '../../auth/route.ts'
import { addressAsAsked } from '../../platform/http/asked-address.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  cardFile,
  commitAnswer,
  commitBytes,
  commitInput,
  commitOf,
  type HubCommit,
  type HubFacade,
  type HubOperation,
  hubDatasetRevision,
  hubRepoRoute,
  isOfGit,
} from '../../schemas/hub-facade.ts'
import type { Deps } from '../deps.ts'
import { refuseUnlessWriter } from '../rules/dataset-access.ts'
import { parseCommitLines } from './commit-lines.ts'
import { type Change, cardIn, contentOf, refuseName, revise } from './files.ts'
import { type HubPorts, type HubRequest, type Writer, writerOf } from './ports.ts'

/** The files of a commit become the next version, together with those of the newest one that it does not touch. */
export const commitRoute = (deps: Deps, ports: HubPorts, facade: HubFacade): Route =>
  route({
    method: 'POST',
    ...hubRepoRoute(facade, 'api/datasets/{owner}/{name}/commit/{revision}'),
    summary:
      'Hub: make the next version of a dataset by adding files to its newest, or deleting some',
    params: hubDatasetRevision,
    body: commitInput,
    binaryBody: { mediaType: 'application/x-ndjson', parse: parseCommitLines },
    bodyLimitBytes: commitBytes,
    response: commitAnswer,
    refusals: [
      ...(['invalid', 'forbidden', 'not_found', 'conflict'] as const),
      ...(['precondition_failed', 'too_large'] as const),
    ],
    async handle(request) {
      const { caller, params, body, ctx } = request
      const writer = await writerOf(deps.pool, caller)
      const dataset = `${params.owner}/${params.name}`
      await refuseUnlessWriter(deps.pool, params, writer)
      refuseBranch(params.revision, ctx.query.create_pr)
      const { header, operations } = body
      const card = cardIn(operations)
      const { files } = await ports.headOf(deps.pool, params)
      const here = new Set(files.map(({ sha256 }) => sha256))
      const changes = await changesOf(ports, request, { writer, operations, here })
      const head = await ports.reviseDataset(request, params, {
        writer,
        source: caller.kind === 'run' ? 'run' : 'upload',
        revise: newest => revise(newest, { dataset, header, changes, card }),
      })
      const commitOid = commitOf(head)
      const endpoint = `${addressAsAsked(ctx, deps.baseUrl())}${facade.mount}`
      const commitUrl = `${endpoint}/datasets/${dataset}/commit/${commitOid}`
      return { success: true, commitOid, commitUrl, hookOutput: '' }
    },
  })

/** Versions follow one another; there are no branches. */
export function refuseBranch(revision: string, createPr: unknown): void {
  if (revision !== 'main')
    throw new Refusal('not_found', `Commits go to main, not to ${revision}`, {
      code: 'hub.revision_not_found',
    })
  if (createPr !== undefined)
    throw new Refusal('invalid', 'Forge has no pull requests; commit without create_pr', {
      code: 'hub.no_pull_requests',
    })
}

/** `here`: the digests of the files of the newest version. */
type Sent = { writer: Writer; operations: HubCommit['operations']; here: ReadonlySet<string> }

/** Stores small files and registers large ones, which were sent before. Nobody sees them until the version is made. */
async function changesOf(
  ports: HubPorts,
  request: HubRequest,
  { writer, operations, here }: Sent,
): Promise<Change[]> {
  const changes: Change[] = []
  const concerned = operations.filter(({ value: { path } }) => path !== cardFile && !isOfGit(path))
  for (const { value } of concerned) refuseName(value.path.replace(/\/$/, ''))
  for (const operation of concerned) {
    const { key, value } = operation
    if (key === 'lfsFile' && here.has(value.oid))
      changes.push({ is: 'added', path: value.path, file: { sha256: value.oid } })
    else changes.push(await changeOf(ports, request, writer, operation))
  }
  return changes
}

async function changeOf(
  ports: HubPorts,
  request: HubRequest,
  { username: owner }: Writer,
  { key, value }: HubOperation,
): Promise<Change> {
  const { path } = value
  switch (key) {
    case 'deletedFile':
      return { is: 'deleted', path }
    case 'deletedFolder':
      return { is: 'folder deleted', path }
    case 'file': {
      const content = contentOf(value)
      if (content.length === 0) throw new Refusal('invalid', `${path} is empty`)
      const upload_id = await ports.storeFile({ asked: request, owner, content })
      return { is: 'added', path, file: { upload_id } }
    }
    case 'lfsFile': {
      const { oid: sha256, size } = value
      const upload_id =
        size === undefined
          ? null
          : await ports.registerFile(request, { owner, sha256, size_bytes: size })
      return { is: 'added', path, file: upload_id === null ? { sha256 } : { upload_id } }
    }
  }
}
