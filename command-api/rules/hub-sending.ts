import { Readable } from 'node:stream'
import { type OutgoingAnswer, Unreachable } from '../../platform/http/outgoing.ts'
import { isCommit } from '../../schemas/hub-reference.ts'
import {
  answerMs,
  asked,
  discard,
  NotGiven,
  printable,
  read,
  refusalOf,
  type Service,
} from './hub-answers.ts'

/** A repository of the hub, and the token with which it is written. */
export type Target = { repo: string; token: string }
/** A file of a commit. `sample`: its first bytes in base64, by which the hub recognizes texts. */
export type FileToSend = { name: string; size_bytes: number; sha256: string; sample: string }
/** Where a large file goes, and where its arrival is confirmed. */
export type Place = { href: string; header: Record<string, string>; verify: string | null }
type Large = Pick<FileToSend, 'size_bytes' | 'sha256'>
export type Sent = Large & { content: AsyncIterable<Buffer>; signal: AbortSignal }

/** Writing to a hub by its commit protocol: each file is announced, large ones are sent, and one commit makes all of them visible. */
export type HubSending = {
  /** Throws `NotGiven` if this token cannot write there. */
  admit(to: Target): Promise<void>
  /** Creates the repository, if it is not there. */
  create(to: Target & { isPrivate: boolean }): Promise<void>
  /** The newest commit with its files: for each name the SHA-256, or the id that git gives the content. */
  head(to: Target): Promise<{ commit: string; files: ReadonlyMap<string, string> }>
  /** The names of the files that belong into the commit itself, and of ignored ones. */
  modes(to: Target, files: readonly FileToSend[]): Promise<{ inline: string[]; ignored: string[] }>
  /** Where these go, by SHA-256; the hub has the absent ones already. */
  places(to: Target, files: readonly Large[]): Promise<Map<string, Place>>
  send(to: Target, place: Place, file: Sent): Promise<void>
  /** The id of the new commit. `lines`: its operations. */
  commit(to: Target, summary: string, lines: readonly object[]): Promise<string>
}

/** What the hub takes in one request. */
const atOnce = 250
/** The hub reads the sent files before it answers. */
const commitMs = 300_000
const lfsType = 'application/vnd.git-lfs+json'
/** A connection that takes nothing for so long is dead. */
const silentMs = 60_000
/** Parts of a message that the hub must not set. */
const ownHeaders = /^(host|content-length|transfer-encoding|connection|expect|upgrade|te|trailer)$/i

export const openSending = (service: Service): HubSending => ({
  admit: to => admit(service, to),
  create: to => create(service, to),
  head: to => head(service, to),
  modes: (to, files) => modes(service, to, files),
  places: (to, files) => places(service, to, files),
  send: (to, place, file) => send(service, to, place, file),
  commit: (to, summary, lines) => commit(service, to, summary, lines),
})

type Json = Record<string, unknown>
const post = async ({ service, to, path, body }: Post): Promise<Json> => {
  const json = { method: 'POST' as const, body: JSON.stringify(body), type: 'application/json' }
  return { ...(await read(service, path, to.token, json)).value }
}
type Post = { service: Service; to: Target; path: string; body: object }

async function admit(service: Service, { repo, token }: Target): Promise<void> {
  const { value } = await read(service, '/api/whoami-v2', token)
  const { name, orgs, auth } = value as { name?: unknown; orgs?: unknown; auth?: Json }
  const mine = [name, ...(Array.isArray(orgs) ? orgs.map(one => one?.name) : [])]
  const [namespace] = repo.split('/')
  if (!mine.includes(namespace))
    throw new NotGiven(
      '',
      `the token is of ${printable(String(name), 100)}, who is no member of ${namespace}`,
    )
  const { role } = (auth?.accessToken ?? {}) as { role?: unknown }
  if (role === 'read') throw new NotGiven('', 'the token may only read')
}

async function create(
  service: Service,
  { isPrivate, ...to }: Target & { isPrivate: boolean },
): Promise<void> {
  const [organization, name] = to.repo.split('/')
  const body = { type: 'model', organization, name, private: isPrivate }
  const answer = await asked(() =>
    service.outgoing.ask(new URL(`${service.endpoint}/api/repos/create`), {
      ...{ method: 'POST', body: JSON.stringify(body), bearer: to.token },
      headers: { 'content-type': 'application/json' },
      signal: AbortSignal.timeout(answerMs),
    }),
  )
  // 409: it is there.
  if (answer.status > 299 && answer.status !== 409) throw refusalOf(answer)
  discard(answer)
}

const maxFiles = 10_000

async function head(service: Service, { repo, token }: Target) {
  const { value } = await read(service, `/api/models/${repo}/revision/main`, token)
  const { sha } = value as Json
  if (typeof sha !== 'string' || !isCommit(sha)) throw new Unreachable('it names no commit')
  const path = `/api/models/${repo}/tree/${sha}?recursive=true`
  const { value: entries } = await read(service, path, token)
  const files = new Map<string, string>()
  // Further pages are left out: then more is sent than necessary, and nothing is wrong.
  for (const entry of Array.isArray(entries) ? entries.slice(0, maxFiles) : []) {
    const { type, path: name, oid, lfs } = entry ?? {}
    if (type === 'file') files.set(String(name), String(lfs?.oid ?? oid))
  }
  return { commit: sha, files }
}

async function modes(service: Service, to: Target, files: readonly FileToSend[]) {
  const all: unknown[] = []
  for (const part of inParts(files)) {
    const announced = part.map(({ name, size_bytes, sample }) => ({
      ...{ path: name, size: size_bytes, sample },
    }))
    const path = `/api/models/${to.repo}/preupload/main`
    const value = await post({ service, to, path, body: { files: announced } })
    if (Array.isArray(value.files)) all.push(...value.files)
  }
  const said = all.map(one => (one ?? {}) as Json)
  const named = (found: readonly Json[]) => found.map(({ path }) => String(path))
  const taken = said.filter(({ shouldIgnore }) => shouldIgnore !== true)
  return {
    inline: named(taken.filter(({ uploadMode }) => uploadMode === 'regular')),
    ignored: named(said.filter(({ shouldIgnore }) => shouldIgnore === true)),
  }
}

async function places(service: Service, to: Target, files: readonly Large[]) {
  const found = new Map<string, Place>()
  for (const part of inParts(files)) {
    const body = {
      ...{ operation: 'upload', transfers: ['basic'], hash_algo: 'sha256', ref: { name: 'main' } },
      objects: part.map(({ sha256, size_bytes }) => ({ oid: sha256, size: size_bytes })),
    }
    const lfs = {
      ...{ method: 'POST' as const, body: JSON.stringify(body) },
      ...{ type: lfsType, accept: lfsType },
    }
    const { value } = await read(service, `/${to.repo}.git/info/lfs/objects/batch`, to.token, lfs)
    const { objects } = value as Json
    for (const one of Array.isArray(objects) ? objects : []) {
      const place = placeOf(one)
      if (place) found.set(String(one.oid), place)
    }
  }
  return found
}

function placeOf(object: unknown): Place | null {
  const { error, actions } = (object ?? {}) as { error?: Json; actions?: Record<string, Json> }
  if (error) throw new NotGiven('', printable(String(error.message), 500))
  const href = actions?.upload?.href
  if (href === undefined) return null
  if (typeof href !== 'string' || !URL.canParse(href))
    throw new Unreachable('it names no address for a file')
  const header = Object.entries(actions?.upload?.header ?? {}).flatMap(([name, value]) =>
    /^[\w-]{1,100}$/.test(name) && !ownHeaders.test(name) ? [[name, String(value)] as const] : [],
  )
  const verify = actions?.verify?.href
  return {
    ...{ href, header: Object.fromEntries(header) },
    verify: typeof verify === 'string' && URL.canParse(verify) ? verify : null,
  }
}

async function send(
  service: Service,
  to: Target,
  { href, header, verify }: Place,
  { sha256, size_bytes, content, signal }: Sent,
): Promise<void> {
  const silent = new AbortController()
  const timer = setTimeout(() => silent.abort(), silentMs)
  async function* watched() {
    for await (const chunk of content) {
      timer.refresh()
      yield chunk
    }
  }
  const bytes = Readable.from(watched(), { objectMode: false })
  try {
    accept(
      await asked(
        () =>
          service.outgoing.ask(new URL(href), {
            ...{ method: 'PUT', headers: header, body: { bytes, length: size_bytes } },
            signal: AbortSignal.any([signal, silent.signal]),
          }),
        signal,
      ),
    )
  } finally {
    clearTimeout(timer)
    bytes.destroy()
  }
  if (verify !== null) await confirm(service, to, verify, { oid: sha256, size: size_bytes })
}

async function confirm({ endpoint, outgoing }: Service, to: Target, verify: string, of: object) {
  const url = new URL(verify)
  // The token is for the hub alone.
  const bearer = url.origin === new URL(endpoint).origin ? to.token : null
  accept(
    await asked(() =>
      outgoing.ask(url, {
        ...{ method: 'POST', body: JSON.stringify(of), bearer },
        headers: { 'content-type': lfsType, accept: lfsType },
        signal: AbortSignal.timeout(answerMs),
      }),
    ),
  )
}

function accept(answer: OutgoingAnswer): void {
  if (answer.status > 299) throw refusalOf(answer)
  discard(answer)
}

async function commit(
  service: Service,
  { repo, token }: Target,
  summary: string,
  operations: readonly object[],
): Promise<string> {
  const lines = [{ key: 'header', value: { summary, description: '' } }, ...operations]
  const { value } = await read(service, `/api/models/${repo}/commit/main`, token, {
    ...{ method: 'POST', type: 'application/x-ndjson', withinMs: commitMs },
    body: lines.map(line => JSON.stringify(line)).join('\n'),
  })
  const { commitOid } = value as Json
  if (typeof commitOid !== 'string' || !isCommit(commitOid))
    throw new Unreachable('it does not say which commit it made')
  return commitOid
}

function inParts<T>(all: readonly T[]): T[][] {
  const parts = Math.ceil(all.length / atOnce)
  return Array.from({ length: parts }, (_, nth) => all.slice(nth * atOnce, (nth + 1) * atOnce))
}
