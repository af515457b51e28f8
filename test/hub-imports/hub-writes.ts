import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'

/** What the hub receives, and how it misbehaves. */
export type Writes = {
  /** Who may write, by token. */
  people: Map<string, string>
  /** Large files that were sent, by SHA-256. */
  blobs: Map<string, Buffer>
  /** The SHA-256 of each large file that arrived whole, in order. */
  arrived: string[]
  /** The bodies of all commits, in order. */
  commits: string[]
  /** Takes no further bytes of these files, until it is deleted. */
  stalls: Set<string>
  /** Does not answer commits, although it makes them. */
  isMute: boolean
}

export const newWrites = (): Writes => ({
  ...{ people: new Map(), blobs: new Map(), arrived: [], commits: [] },
  ...{ stalls: new Set(), isMute: false },
})

/** The hub that receives. */
type Receiving = {
  url: string
  writes: Writes
  commit(repo: string, files: Record<string, Buffer>): string
}

type Ask = {
  hub: Receiving
  path: string
  filesOf: (repo: string) => Record<string, Buffer> | null
  request: IncomingMessage
  response: ServerResponse
}

/** The hub's commit protocol. */
export async function takeWrite(ask: Ask): Promise<void> {
  const { hub, path, request, response } = ask
  const [, oid] = /^\/put\/([0-9a-f]{64})$/.exec(path) ?? []
  if (oid !== undefined) return takeFile(ask, oid)
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
  const name = hub.writes.people.get(token)
  if (name === undefined) return refuse(response, 401, 'Invalid username or password.')
  const body = (await buffer(request)).toString()
  if (path === '/api/whoami-v2') return send(response, 200, { name, orgs: [{ name: 'acme' }] })
  if (path === '/api/repos/create') return makeRepo(ask, JSON.parse(body))
  if (path.endsWith('.git/info/lfs/objects/batch')) return offer(ask, body)
  const [, repo = '', what] = /^\/api\/models\/(.+)\/(preupload|commit)\/main$/.exec(path) ?? []
  if (what === 'preupload') return plan(ask, JSON.parse(body))
  if (what === 'commit') return takeCommit(ask, repo, body)
  refuse(response, 404, 'Not found')
}

function makeRepo({ hub, filesOf, response }: Ask, asked: { organization: string; name: string }) {
  const repo = `${asked.organization}/${asked.name}`
  const isNew = filesOf(repo) === null
  if (isNew) hub.commit(repo, {})
  send(response, isNew ? 200 : 409, { url: `${hub.url}/${repo}` })
}

function plan({ response }: Ask, { files }: { files: { path: string; size: number }[] }): void {
  const modes = files.map(({ path, size }) => ({
    ...{ path, uploadMode: size > 1000 ? 'lfs' : 'regular' },
    shouldIgnore: path.endsWith('.gitignore'),
  }))
  send(response, 200, { files: modes })
}

function offer({ hub, response }: Ask, body: string): void {
  const objects = JSON.parse(body).objects.map((object: { oid: string }) =>
    hub.writes.blobs.has(object.oid)
      ? object
      : { ...object, actions: { upload: { href: `${hub.url}/put/${object.oid}`, header: {} } } },
  )
  send(response, 200, { transfer: 'basic', objects })
}

async function takeFile({ hub, request, response }: Ask, oid: string): Promise<void> {
  // The connection stays open, without a further byte being read.
  if (hub.writes.stalls.has(oid)) return
  const content = await buffer(request).catch(() => null)
  if (content === null) return
  const found = createHash('sha256').update(content).digest('hex')
  if (found !== oid) return refuse(response, 400, `these bytes have the SHA-256 ${found}`)
  hub.writes.blobs.set(oid, content)
  hub.writes.arrived.push(oid)
  response.writeHead(200).end()
}

function takeCommit({ hub, filesOf, response }: Ask, repo: string, body: string): void {
  hub.writes.commits.push(body)
  const files = { ...filesOf(repo) }
  for (const { key, value } of body.split('\n').map(line => JSON.parse(line))) {
    if (key === 'file') files[value.path] = Buffer.from(value.content, value.encoding)
    const blob = key === 'lfsFile' ? hub.writes.blobs.get(value.oid) : undefined
    if (blob) files[value.path] = blob
  }
  const commitOid = hub.commit(repo, files)
  if (!hub.writes.isMute) send(response, 200, { success: true, commitOid, commitUrl: hub.url })
}

const refuse = (response: ServerResponse, status: number, message: string): void => {
  response.writeHead(status, { 'x-error-message': message }).end()
}

const send = (response: ServerResponse, status: number, value: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
