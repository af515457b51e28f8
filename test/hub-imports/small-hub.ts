import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import { newWrites, takeWrite, type Writes } from './hub-writes.ts'

type Files = Record<string, Buffer>
type Repo = { commits: Map<string, Files>; main: string; license: string; token: string | null }

/** A hub with the protocol of Hugging Face, and with the faults that a test gives it. */
export type SmallHub = {
  url: string
  /** Every request, e.g. `GET /org/name/resolve/<commit>/file bytes=5-`. */
  requests: string[]
  /** Makes these files the newest commit of a repository. `token`: who may read its files; null: everybody. */
  commit(repo: string, files: Record<string, Buffer | string>, more?: Partial<Repo>): string
  /** Sends only so many bytes of a file, once for each entry, and then cuts the connection. */
  cuts: Map<string, number[]>
  /** Sends so many bytes of a file and then nothing, until it is deleted. */
  stalls: Map<string, number>
  /** Sends other bytes than it lists. */
  swapped: Map<string, Buffer>
  redirects: Map<string, string>
  /** Ignores `Range`, like some mirrors. */
  sendsParts: boolean
  writes: Writes
  /** The newest files of a repository; null: there is none. */
  filesOf(repo: string): Files | null
  close(): void
}

export async function startSmallHub(): Promise<SmallHub> {
  const repos = new Map<string, Repo>()
  const filesOf = (repo: string) => {
    const found = repos.get(repo)
    return found?.commits.get(found.main) ?? null
  }
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '', hub.url).pathname)
    hub.requests.push(`${request.method} ${path} ${request.headers.range ?? ''}`.trim())
    const isWrite = ['POST', 'PUT'].includes(request.method ?? '') || path === '/api/whoami-v2'
    if (isWrite) void takeWrite({ hub, path, filesOf, request, response })
    else answer(hub, { repos, path }, request, response)
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const hub: SmallHub = {
    url: `http://127.0.0.1:${port}`,
    ...{ requests: [], cuts: new Map(), stalls: new Map(), swapped: new Map() },
    ...{ redirects: new Map(), sendsParts: true, writes: newWrites(), filesOf },
    commit(repo, given, more = {}) {
      const files = Object.fromEntries(
        Object.entries(given).map(([name, content]) => [name, Buffer.from(content)]),
      )
      const hash = createHash('sha1').update(repo)
      for (const [name, content] of Object.entries(files)) hash.update(name).update(content)
      const commit = hash.digest('hex')
      const known = repos.get(repo) ?? { commits: new Map(), license: 'apache-2.0', token: null }
      known.commits.set(commit, files)
      repos.set(repo, { ...known, ...more, main: commit })
      return commit
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
  // The samples of a process need it until the process ends.
  server.unref()
  return hub
}

class Refused extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

type Asked = { repos: ReadonlyMap<string, Repo>; path: string }

function answer(
  hub: SmallHub,
  asked: Asked,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { path } = asked
  try {
    const about = aboutRepo(asked)
    if (about) send(response, about)
    else sendFile(hub, { request, response, path, ...fileOf(asked, request) })
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    const { status, code, message } = error
    response.writeHead(status, { 'x-error-code': code, 'x-error-message': message }).end()
  }
}

function aboutRepo(asked: Asked): object | null {
  const [, name, what, revision] =
    /^\/api\/models\/([^/]+\/[^/]+)\/(revision|tree)\/(.+)$/.exec(asked.path) ?? []
  if (name === undefined || revision === undefined) return null
  const { commit, files, repo } = found(asked, name, revision)
  return what === 'tree' ? treeOf(files) : infoOf(name, commit, repo)
}

function found({ repos }: Asked, name: string, revision: string) {
  const repo = repos.get(name)
  if (!repo) throw new Refused(404, 'RepoNotFound', 'Repository not found')
  const commit = revision === 'main' ? repo.main : revision
  const files = repo.commits.get(commit)
  if (!files) throw new Refused(404, 'RevisionNotFound', `Invalid rev id: ${revision}`)
  return { repo, commit, files }
}

function fileOf(asked: Asked, { headers: { authorization } }: IncomingMessage) {
  const [, name = '', revision = '', file = ''] =
    /^\/([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/.exec(asked.path) ?? []
  const { repo, commit, files } = found(asked, name, revision)
  if (repo.token !== null && authorization !== `Bearer ${repo.token}`)
    throw new Refused(
      authorization === undefined ? 401 : 403,
      'GatedRepo',
      `Access to model ${name} is restricted and you are not in the authorized list.`,
    )
  const content = files[file]
  if (!content) throw new Refused(404, 'EntryNotFound', 'Entry not found')
  return { commit, content }
}

const infoOf = (id: string, sha: string, { commits, license, token }: Repo) => ({
  ...{ id, sha, private: false, gated: token === null ? false : 'manual', cardData: { license } },
  siblings: Object.keys(commits.get(sha) ?? {}).map(rfilename => ({ rfilename })),
})

const isLarge = (content: Buffer) => content.length > 1000

const treeOf = (files: Files) =>
  Object.entries(files).map(([path, content]) => {
    const size = content.length
    const oid = createHash('sha1').update(`blob ${size}\0`).update(content).digest('hex')
    const sha256 = createHash('sha256').update(content).digest('hex')
    return {
      ...{ type: 'file', path, size, oid },
      ...(isLarge(content) && { lfs: { oid: sha256, size, pointerSize: 134 } }),
    }
  })

type Sending = {
  request: IncomingMessage
  response: ServerResponse
  path: string
  commit: string
  content: Buffer
}

function sendFile(hub: SmallHub, { request, response, path, commit, content }: Sending): void {
  const elsewhere = hub.redirects.get(path)
  if (elsewhere !== undefined) {
    response.writeHead(302, { location: elsewhere }).end()
    return
  }
  const whole = hub.swapped.get(path) ?? content
  const from = hub.sendsParts ? firstByte(request) : 0
  const body = whole.subarray(from)
  response.writeHead(from > 0 ? 206 : 200, {
    ...{ 'content-length': body.length, 'x-repo-commit': commit },
    ...(hub.sendsParts && { 'accept-ranges': 'bytes' }),
    ...(from > 0 && { 'content-range': `bytes ${from}-${whole.length - 1}/${whole.length}` }),
  })
  if (request.method === 'HEAD') {
    response.end()
    return
  }
  const cut = hub.cuts.get(path)?.shift()
  const stall = hub.stalls.get(path)
  if (cut !== undefined) response.write(body.subarray(0, cut), () => response.destroy())
  else if (stall !== undefined) response.write(body.subarray(0, stall))
  else response.end(body)
}

const firstByte = ({ headers }: IncomingMessage): number =>
  Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0)

function send(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
