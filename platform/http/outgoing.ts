import { type LookupAddress, lookup as resolveName } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import ipaddr from 'ipaddr.js'
import { Agent, request } from 'undici'

/** The service does not respond, or not in a way that we accept. */
export class Unreachable extends Error {}

export type OutgoingRequest = {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT'
  headers?: Record<string, string>
  body?: string | OutgoingBytes
  /** Sent to the origin of the first address alone, never after a redirect to another. */
  bearer?: string | null
  signal?: AbortSignal
}

/** Bytes that are read once, so that they are not sent again after a redirect. */
export type OutgoingBytes = { bytes: Readable; length: number }

export type OutgoingAnswer = {
  status: number
  header(name: string): string | null
  /** Read it to the end, or destroy it. */
  body: Readable
}

/** Requests to a service outside of this installation. */
export type Outgoing = {
  ask(url: URL, options?: OutgoingRequest): Promise<OutgoingAnswer>
  close(): Promise<void>
}

export type OutgoingOptions = {
  /** The origin that the administrator configured; it may be on this machine or in its network, and without TLS. */
  trusted: string
  resolve?: typeof resolveAll
}

const maxRedirects = 3
const connectMs = 5000
/** For the first byte of an answer, and between two parts of its body. */
const silentMs = 30_000
const ports = ['', '443', '8443']

/**
 * A client for a configured service and for the addresses to which it redirects. Those are not trusted: only https on the usual
 * ports of hosts with public addresses, so that nobody makes this server ask its own network. A name is resolved once, and the
 * checked address is the one connected to. No proxy of the environment is used.
 */
export function openOutgoing({ trusted, resolve = resolveAll }: OutgoingOptions): Outgoing {
  const limits = { headersTimeout: silentMs, bodyTimeout: silentMs, maxHeaderSize: 16_384 }
  const configured = new Agent({ ...limits, connect: { timeout: connectMs } })
  const guarded = new Agent({
    ...limits,
    connect: { timeout: connectMs, lookup: onlyPublic(resolve) },
  })
  async function once(
    url: URL,
    { method = 'GET', headers, bearer, body, signal }: OutgoingRequest,
  ) {
    refuseUnsafe(url, trusted)
    const dispatcher = url.origin === trusted ? configured : guarded
    try {
      return await request(url, {
        ...{ method, dispatcher, signal: signal ?? null },
        headers: {
          ...headers,
          ...(bearer && { authorization: `Bearer ${bearer}` }),
          ...(typeof body === 'object' && { 'content-length': String(body.length) }),
        },
        // The caller watches how fast a file is taken, which may be long before the answer.
        ...(typeof body === 'object'
          ? { body: body.bytes, headersTimeout: 0 }
          : { body: body ?? null }),
      })
    } catch (error) {
      signal?.throwIfAborted()
      throw new Unreachable(reasonOf(error))
    }
  }
  return {
    async ask(first, options = {}) {
      let url = first
      for (let redirects = 0; redirects <= maxRedirects; redirects++) {
        const bearer = url.origin === first.origin ? (options.bearer ?? null) : null
        const { statusCode: status, headers, body } = await once(url, { ...options, bearer })
        const header = (name: string) => [headers[name] ?? []].flat()[0] ?? null
        const next = redirectStatuses.includes(status) ? header('location') : null
        if (next === null) return { status, header, body }
        await body.dump()
        refuseRedirected(options, status)
        url = addressFrom(next, url)
      }
      throw new Unreachable('it redirects too often')
    },
    async close() {
      await Promise.all([configured.destroy(), guarded.destroy()])
    },
  }
}

/** Bytes are gone by then, and other requests than reads keep their method only with these statuses. */
function refuseRedirected({ method = 'GET', body }: OutgoingRequest, status: number): void {
  const isRead = method === 'GET' || method === 'HEAD'
  if (typeof body === 'object' || !(isRead || status === 307 || status === 308))
    throw new Unreachable(`it redirects ${method} with status ${status}`)
}

const redirectStatuses: readonly number[] = [301, 302, 303, 307, 308]

function addressFrom(location: string, base: URL): URL {
  if (!URL.canParse(location, base)) throw new Unreachable('it redirects to no address')
  return new URL(location, base)
}

function refuseUnsafe(url: URL, trusted: string): void {
  if (url.origin === trusted) return
  const { protocol, hostname, port, username, password } = url
  const host = hostname.replace(/^\[|\]$/g, '')
  const isSafe =
    protocol === 'https:' &&
    ports.includes(port) &&
    username === '' &&
    password === '' &&
    // Names are checked when they are resolved.
    (!ipaddr.isValid(host) || isPublic(host))
  if (!isSafe) throw new Unreachable(`it redirects to ${url.origin}, which is not allowed`)
}

/** Not of this machine, a private network, a cloud's metadata or anything else that is not on the internet. */
export const isPublic = (address: string): boolean =>
  ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast'

const resolveAll = (name: string): Promise<LookupAddress[]> =>
  new Promise((done, failed) =>
    resolveName(name, { all: true }, (error, found) => (error ? failed(error) : done(found))),
  )

const onlyPublic =
  (resolve: typeof resolveAll): LookupFunction =>
  (name, { all }, done) => {
    resolve(name).then(
      found => {
        const [first] = found
        if (!first || !found.every(({ address }) => isPublic(address)))
          return done(new Error(`${name} has an address that is not allowed`), '', 4)
        if (all) done(null, found)
        else done(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => done(error, '', 4),
    )
  }

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { message } = error.cause instanceof Error ? error.cause : error
  // Without a message: no address of a name could be reached.
  return message || String(Reflect.get(error, 'code'))
}
