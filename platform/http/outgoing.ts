import { type LookupAddress, lookup as resolveName } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import { rootCertificates } from 'node:tls'
import ipaddr from 'ipaddr.js'
import { Agent, request } from 'undici'
import { type AllowedHosts, bare, isListed, noHosts } from './allowed-hosts.ts'

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

/** Requests to a service outside this installation. */
export type Outgoing = {
  ask(url: URL, options?: OutgoingRequest): Promise<OutgoingAnswer>
  close(): Promise<void>
}

export type OutgoingOptions = {
  /** The origin that the administrator configured; it may be on this machine or in its network, and without TLS. */
  trusted: string | null
  /** Internal services that the administrator allows, in addition to public ones. */
  allowed?: AllowedHosts
  /** Certificates, as PEM, that are trusted besides the usual authorities. */
  ca?: string | null
  /** Followed at most; with 0 the answer is the redirect. */
  redirects?: number
  resolve?: typeof resolveAll
}

const connectMs = 5000
/** For the first byte of an answer, and between two parts of its body. */
const silentMs = 30_000
const ports = ['', '443', '8443']

/**
 * The client for every address that people or other services name, and for a service that the administrator configured. Only
 * that one is trusted; for others: only https on the usual ports of hosts with public addresses, or of hosts that the administrator
 * allows, so that nobody makes this server ask its own network. A name is resolved once, and the checked address is the one
 * connected to. No proxy of the environment is used.
 */
export function openOutgoing({
  trusted,
  allowed = noHosts,
  ca = null,
  redirects: maxRedirects = 3,
  resolve = resolveAll,
}: OutgoingOptions): Outgoing {
  const limits = { headersTimeout: silentMs, bodyTimeout: silentMs, maxHeaderSize: 16_384 }
  const connecting = { timeout: connectMs, ...(ca !== null && { ca: [...rootCertificates, ca] }) }
  const configured = new Agent({ ...limits, connect: connecting })
  const listed = new Agent({ ...limits, connect: { ...connecting, lookup: anyOf(resolve) } })
  const mayReach = (address: string) => isPublic(address) || allowed.hasAddress(address)
  const guarded = new Agent({
    ...limits,
    connect: { ...connecting, lookup: onlyThose(mayReach, resolve) },
  })
  const agentFor = (url: URL) => {
    if (url.origin === trusted) return configured
    return isListed(allowed, url) ? listed : guarded
  }
  const follows = (status: number) => maxRedirects > 0 && redirectStatuses.includes(status)
  async function once(
    url: URL,
    { method = 'GET', headers, bearer, body, signal }: OutgoingRequest,
  ) {
    const dispatcher = agentFor(url)
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
        if (url.origin !== trusted) refuseUnsafe(url, allowed, url !== first)
        const {
          statusCode: status,
          headers,
          body,
        } = await once(url, keepingBearer(options, url.origin === first.origin))
        const header = (name: string) => [headers[name] ?? []].flat()[0] ?? null
        const next = follows(status) ? header('location') : null
        if (next === null) return { status, header, body }
        await body.dump()
        refuseRedirected(options, status)
        url = addressFrom(next, url)
      }
      throw new Unreachable('it redirects too often')
    },
    async close() {
      await Promise.all([configured, listed, guarded].map(agent => agent.destroy()))
    },
  }
}

const keepingBearer = (options: OutgoingRequest, isSame: boolean): OutgoingRequest =>
  isSame ? options : { ...options, bearer: null }

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

/** Why no request may be sent to an address; null: its name must be resolved first. */
export function faultOf(url: URL, allowed: AllowedHosts): string | null {
  const { protocol, hostname, port, username, password } = url
  if (protocol !== 'https:') return 'only https is allowed'
  if (username !== '' || password !== '') return 'an address with a password is not allowed'
  if (isListed(allowed, url)) return null
  if (!ports.includes(port)) return 'only the ports 443 and 8443 are allowed'
  const host = bare(hostname)
  // Names are checked when they are resolved.
  return ipaddr.isValid(host) && !isPublic(host)
    ? 'addresses of private networks and of this machine are not allowed'
    : null
}

function refuseUnsafe(url: URL, allowed: AllowedHosts, isRedirect: boolean): void {
  const fault = faultOf(url, allowed)
  if (fault === null) return
  throw new Unreachable(
    isRedirect
      ? `it redirects to ${url.origin}, which is not allowed: ${fault}`
      : `${url.origin} is not allowed: ${fault}`,
  )
}

/** Not of this machine, a private network, a cloud's metadata or anything else that is not on the internet. */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  // IPv6 has further forms, such as ::127.0.0.1, that are no special range of the library.
  const isGlobal = parsed instanceof ipaddr.IPv4 || parsed.match(globalUnicast)
  return isGlobal && parsed.range() === 'unicast'
}

/** All that has been assigned of IPv6 (RFC 4291, 2.4). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

const resolveAll = (name: string): Promise<LookupAddress[]> =>
  new Promise((done, failed) =>
    resolveName(name, { all: true }, (error, found) => (error ? failed(error) : done(found))),
  )

type Found = LookupAddress[]

const onlyThose = (mayReach: (address: string) => boolean, resolve: typeof resolveAll) =>
  lookupBy(resolve, (name, found) => {
    if (found.length === 0 || !found.every(({ address }) => mayReach(address)))
      throw new Error(`${name} has an address that is not allowed`)
  })

const anyOf = (resolve: typeof resolveAll) =>
  lookupBy(resolve, (name, found) => {
    if (found.length === 0) throw new Error(`${name} has no address`)
  })

/** The addresses it returns are the ones connected to, so that a name gains nothing by changing its address meanwhile. */
const lookupBy =
  (resolve: typeof resolveAll, check: (name: string, found: Found) => void): LookupFunction =>
  (name, { all }, done) => {
    resolve(name).then(
      found => {
        const [first] = found
        try {
          check(name, found)
        } catch (error) {
          return done(error as NodeJS.ErrnoException, '', 4)
        }
        if (all || !first) done(null, found)
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
