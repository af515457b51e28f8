import { type Route, route } from '../../auth/route.ts'
import { addressAsAsked } from '../../platform/http/asked-address.ts'
import { Refusal } from '../../platform/refusal.ts'
import { datasetPath } from '../../schemas/datasets/datasets.ts'
import {
  cardFile,
  type HubFacade,
  hubDatasetRevision,
  hubFacades,
  hubGitDataset,
  hubRepoRoute,
  hubRoute,
  isOfGit,
  lfsBatchAnswer,
  lfsBatchInput,
  lfsVerified,
  lfsVerifyInput,
  nameOfGit,
  preuploadAnswer,
  preuploadBytes,
  preuploadInput,
  regularBytes,
  regularBytesInAll,
  repoCreated,
  repoInput,
  yamlAnswer,
  yamlInput,
} from '../../schemas/hub-facade.ts'
import { exactly } from '../../schemas/validate.ts'
import type { Deps } from '../deps.ts'
import { refuseUnlessWriter } from '../rules/dataset-access.ts'
import { commitRoute } from './commit-route.ts'
import { refuseName } from './files.ts'
import { type Head, type HubPorts, type HubRequest, writerOf } from './ports.ts'

/** The routes to which the Hub's clients write (docs/use/hub.md): one set for people, one for running code. */
export const hubRoutes = (deps: Deps, ports: HubPorts): Route[] =>
  hubFacades.flatMap(facade => [
    ...repoRoutes(deps, ports, facade),
    ...preuploadRoutes(deps, ports, facade),
    ...lfsRoutes(deps, ports, facade),
    commitRoute(deps, ports, facade),
  ])

const faultOfName = exactly(datasetPath.properties.name)

const repoRoutes = (deps: Deps, ports: HubPorts, facade: HubFacade): Route[] => [
  route({
    method: 'POST',
    ...hubRoute(facade, 'api/repos/create'),
    summary: 'Hub: create a dataset without versions',
    body: repoInput,
    response: repoCreated,
    refusals: ['invalid', 'forbidden', 'not_found', 'conflict', 'not_configured'],
    async handle(request) {
      const { caller, body, ctx } = request
      const writer = await writerOf(deps.pool, caller)
      if (body.type !== 'dataset') throw notOffered(body.type ?? 'model')
      const named = { owner: body.organization ?? writer.username, name: body.name }
      if (faultOfName(named.name) !== null)
        throw new Refusal('invalid', `A dataset cannot have the name ${named.name}`)
      const id = `${named.owner}/${named.name}`
      const url = `${addressAsAsked(ctx, deps.baseUrl())}${facade.mount}/datasets/${id}`
      const isPublic = body.visibility === 'public' || body.private === false
      const settings = isPublic ? { visibility: 'public' as const } : {}
      await ports.openDataset(request, named, { writer, settings }).catch(error => {
        throw withAddress(error, url)
      })
      return { url, id, name: id }
    },
  }),
  route({
    method: 'POST',
    ...hubRoute(facade, 'api/validate-yaml'),
    summary: 'Hub: accept the text of a card',
    body: yamlInput,
    bodyLimitBytes: preuploadBytes,
    response: yamlAnswer,
    // The card is a text to Forge, whatever its first lines say.
    handle: async () => ({ errors: [], warnings: [] }),
  }),
]

/** Clients that accept an existing repository read its address from the refusal. */
function withAddress(error: unknown, url: string): unknown {
  if (!(error instanceof Refusal) || error.extras.code !== 'dataset.exists') return error
  return new Refusal(error.code, error.detail, { ...error.extras, fields: { url } })
}

const notOffered = (type: string) =>
  new Refusal(
    'not_configured',
    type === 'model'
      ? 'Models take artifacts of runs as their versions (POST /api/models/{model}/versions); clients of the Hub can only read them'
      : `Forge has no repositories of type ${type}`,
    { code: 'hub.not_offered' },
  )

const preuploadRoutes = (deps: Deps, ports: HubPorts, facade: HubFacade): Route[] => [
  route({
    method: 'POST',
    ...hubRepoRoute(facade, 'api/datasets/{owner}/{name}/preupload/{revision}'),
    summary: 'Hub: how each file of a commit is to be sent',
    params: hubDatasetRevision,
    body: preuploadInput,
    bodyLimitBytes: preuploadBytes,
    response: preuploadAnswer,
    refusals: ['invalid', 'forbidden', 'not_found'],
    async handle({ caller, params, body }) {
      await refuseUnlessWriter(deps.pool, params, await writerOf(deps.pool, caller))
      for (const { path } of body.files) refuseName(path)
      return { files: modesOf(body.files, await ports.headOf(deps.pool, params)) }
    },
  }),
]

type Announced = { path: string; size: number }

/** Small files travel in the commit, as many as it has room for. */
function modesOf(files: readonly Announced[], head: Head) {
  let room = regularBytesInAll
  return files.map(({ path, size }) => {
    const shouldIgnore = isOfGit(path)
    const isRegular = path === cardFile || shouldIgnore || size <= Math.min(regularBytes, room)
    if (isRegular) room -= size
    const uploadMode = isRegular ? ('regular' as const) : ('lfs' as const)
    const here = head.files.find(({ name }) => name === path)
    return { path, uploadMode, shouldIgnore, ...(here && !isRegular && { oid: here.sha256 }) }
  })
}

const lfsRoutes = (deps: Deps, ports: HubPorts, facade: HubFacade): Route[] => [
  route({
    method: 'POST',
    ...hubRepoRoute(facade, 'datasets/{owner}/{repo}/info/lfs/objects/batch'),
    summary: 'Hub: where to send the large files of a commit',
    params: hubGitDataset,
    body: lfsBatchInput,
    response: lfsBatchAnswer,
    refusals: ['invalid', 'forbidden', 'not_found'],
    async handle(request) {
      const { caller, params, body } = request
      const named = { owner: params.owner, name: nameOfGit(params.repo) }
      const { username } = await admit(deps, caller, named)
      if (body.operation !== 'upload')
        throw new Refusal('invalid', `git-lfs cannot ${body.operation} here, only upload`)
      const { files } = await ports.headOf(deps.pool, named)
      const here = new Set(files.map(({ sha256 }) => sha256))
      const objects: Awaited<ReturnType<typeof toObject>>[] = []
      for (const object of body.objects)
        objects.push(
          here.has(object.oid)
            ? object
            : await toObject(deps, ports, request, { ...object, username, facade, ...params }),
        )
      return { transfer: 'basic', objects }
    },
  }),
  route({
    method: 'POST',
    ...hubRepoRoute(facade, 'datasets/{owner}/{repo}/info/lfs/objects/verify'),
    summary: 'Hub: register a large file that was sent',
    params: hubGitDataset,
    body: lfsVerifyInput,
    response: lfsVerified,
    refusals: ['invalid', 'forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params, body } = request
      const named = { owner: params.owner, name: nameOfGit(params.repo) }
      const { username: owner } = await admit(deps, caller, named)
      const file = { owner, sha256: body.oid, size_bytes: body.size }
      if ((await ports.registerFile(request, file)) === null)
        throw new Refusal('invalid', `You have not sent a file with the SHA-256 ${body.oid}`, {
          code: 'hub.not_sent',
        })
      return { success: true }
    },
  }),
]

async function admit(
  { pool }: Deps,
  caller: HubRequest['caller'],
  named: { owner: string; name: string },
) {
  const writer = await writerOf(pool, caller)
  await refuseUnlessWriter(pool, named, writer)
  return writer
}

type Asked = {
  oid: string
  size: number
  username: string
  facade: HubFacade
  owner: string
  repo: string
}
type LfsObject = {
  oid: string
  size: number
  actions?: { upload: Action; verify: Action }
  error?: { code: number; message: string }
}
type Action = { href: string; header: Record<string, string> }

/** Each refused file has an error, as git-lfs wants it; the others can still be sent. */
async function toObject(
  deps: Deps,
  ports: HubPorts,
  request: HubRequest & { ctx: { host: string; protocol: string } },
  { oid, size, username, facade, owner, repo }: Asked,
): Promise<LfsObject> {
  const baseUrl = deps.baseUrl()
  try {
    const file = { owner: username, sha256: oid, size_bytes: size }
    const { url, exists } = await ports.announceFile(request, file)
    if (exists) return { oid, size }
    const here = addressAsAsked(request.ctx, baseUrl)
    const verify = `${here}${facade.mount}/datasets/${owner}/${repo}/info/lfs/objects/verify`
    return {
      ...{ oid, size },
      actions: {
        upload: { href: `${here}${url.slice(baseUrl.length)}`, header: {} },
        verify: { href: verify, header: {} },
      },
    }
  } catch (error) {
    if (!(error instanceof Refusal) || error.status >= 500) throw error
    return { oid, size, error: { code: error.status, message: error.detail } }
  }
}
