import { type Route, route } from '../../auth/route.ts'
import { addressAsAsked } from '../../platform/http/asked-address.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  cardFile,
  type HubFacade,
  hubRepoRoute,
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
} from '../../schemas/hub-facade.ts'
import type { Deps } from '../deps.ts'
import type { Kind } from './kinds.ts'
import type { HubPorts, HubRequest } from './ports.ts'

export const preuploadRoute = (facade: HubFacade, kind: Kind): Route =>
  route({
    method: 'POST',
    ...hubRepoRoute(facade, `${kind.path}/preupload/{revision}`),
    summary: `Hub: how each file of a commit to a ${kind.noun} is to be sent`,
    params: kind.revised,
    body: preuploadInput,
    bodyLimitBytes: preuploadBytes,
    response: preuploadAnswer,
    refusals: ['invalid', 'forbidden', 'not_found'],
    async handle({ caller, params, body }) {
      const named = params as { owner: string; name: string }
      await kind.admit(caller, named)
      for (const { path } of body.files) kind.refuseName(path)
      return { files: modesOf(body.files, await kind.filesOf(named)) }
    },
  })

type Announced = { path: string; size: number }

/** Small files travel in the commit, as many as it has room for. */
function modesOf(files: readonly Announced[], here: readonly { name: string; sha256: string }[]) {
  let room = regularBytesInAll
  return files.map(({ path, size }) => {
    const shouldIgnore = isOfGit(path)
    const isRegular = path === cardFile || shouldIgnore || size <= Math.min(regularBytes, room)
    if (isRegular) room -= size
    const uploadMode = isRegular ? ('regular' as const) : ('lfs' as const)
    const same = here.find(({ name }) => name === path)
    return { path, uploadMode, shouldIgnore, ...(same && !isRegular && { oid: same.sha256 }) }
  })
}

export const lfsRoutes = (deps: Deps, ports: HubPorts, facade: HubFacade, kind: Kind): Route[] => [
  route({
    method: 'POST',
    ...hubRepoRoute(facade, `${kind.git}/info/lfs/objects/batch`),
    summary: `Hub: where to send the large files of a commit to a ${kind.noun}`,
    params: kind.gitNamed,
    body: lfsBatchInput,
    response: lfsBatchAnswer,
    refusals: ['invalid', 'forbidden', 'not_found'],
    async handle(request) {
      const { caller, body } = request
      const { owner, repo } = request.params as GitName
      const named = { owner, name: nameOfGit(repo) }
      const { username } = await kind.admit(caller, named)
      if (body.operation !== 'upload')
        throw new Refusal('invalid', `git-lfs cannot ${body.operation} here, only upload`)
      const here = new Set((await kind.filesOf(named)).map(({ sha256 }) => sha256))
      const verify = `${facade.mount}/${kind.prefix}${owner}/${repo}/info/lfs/objects/verify`
      const objects: Awaited<ReturnType<typeof toObject>>[] = []
      for (const object of body.objects)
        objects.push(
          here.has(object.oid)
            ? object
            : await toObject(deps, ports, request, { ...object, username, verify }),
        )
      return { transfer: 'basic', objects }
    },
  }),
  route({
    method: 'POST',
    ...hubRepoRoute(facade, `${kind.git}/info/lfs/objects/verify`),
    summary: `Hub: register a large file that was sent for a ${kind.noun}`,
    params: kind.gitNamed,
    body: lfsVerifyInput,
    response: lfsVerified,
    refusals: ['invalid', 'forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, body } = request
      const { owner: of, repo } = request.params as GitName
      const { username: owner } = await kind.admit(caller, { owner: of, name: nameOfGit(repo) })
      const file = { owner, sha256: body.oid, size_bytes: body.size }
      if ((await ports.registerFile(request, file)) === null)
        throw new Refusal('invalid', `You have not sent a file with the SHA-256 ${body.oid}`, {
          code: 'hub.not_sent',
        })
      return { success: true }
    },
  }),
]

type GitName = { owner: string; repo: string }

type Asked = {
  oid: string
  size: number
  username: string
  /** The path at which the file is registered. */
  verify: string
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
  { oid, size, username, verify }: Asked,
): Promise<LfsObject> {
  const baseUrl = deps.baseUrl()
  try {
    const file = { owner: username, sha256: oid, size_bytes: size }
    const { url, exists } = await ports.announceFile(request, file)
    if (exists) return { oid, size }
    const here = addressAsAsked(request.ctx, baseUrl)
    return {
      ...{ oid, size },
      actions: {
        upload: { href: `${here}${url.slice(baseUrl.length)}`, header: {} },
        verify: { href: `${here}${verify}`, header: {} },
      },
    }
  } catch (error) {
    if (!(error instanceof Refusal) || error.status >= 500) throw error
    return { oid, size, error: { code: error.status, message: error.detail } }
  }
}
