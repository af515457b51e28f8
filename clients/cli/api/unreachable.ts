import { exitCode, Failure } from '../program/failure.ts'

/** Causes by the code of the error. */
const causes: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the name is unknown',
  EAI_AGAIN: 'the name could not be looked up',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'its network is unreachable',
  ETIMEDOUT: 'it did not accept the connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'it did not accept the connection in time',
  ECONNRESET: 'it closed the connection without a response',
  UND_ERR_SOCKET: 'it closed the connection without a response',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet; check the clock of this machine',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is from an authority that this machine does not know',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'its certificate is from an authority that this machine does not know',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate is from an authority that this machine does not know',
}

/** TLS was expected, but the server speaks something else. */
const noTls = /^(EPROTO|ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST))$/
const ownAuthority =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT_LOCALLY|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/
const closed = /^(ECONNRESET|UND_ERR_SOCKET)$/

/** A request without a response, in words, with what to try. Anything but a failed request is returned unchanged. */
export function unreachable(host: string, error: unknown, timeoutMs: number): unknown {
  if (!(error instanceof Error) || error instanceof Failure) return error
  const cause = error.cause instanceof Error ? error.cause : error
  const reason = 'code' in cause ? String(cause.code) : cause.name
  const words =
    reason === 'TimeoutError'
      ? `no response within ${timeoutMs / 1000} s`
      : causeText(reason, cause)
  return new Failure(exitCode.unavailable, `${host} cannot be reached: ${words}`, {
    lines: hintsOf(host, reason).map(hint => `hint: ${hint}`),
    fields: { reason },
  })
}

const causeText = (reason: string, cause: Error): string =>
  noTls.test(reason)
    ? 'what listens there speaks http, not https'
    : (causes[reason] ?? cause.message)

function hintsOf(host: string, reason: string): string[] {
  if (reason === 'ECONNREFUSED')
    return ['start it (npm start in its folder), or name another with --host or FORGE_HOST']
  if (noTls.test(reason)) return [`try --host ${host.replace(/^https:/, 'http:')}`]
  if (ownAuthority.test(reason)) return ['name the file of its authority in NODE_EXTRA_CA_CERTS']
  if (closed.test(reason) && host.startsWith('http:'))
    return [`if it speaks https: --host ${host.replace(/^http:/, 'https:')}`]
  return []
}

/** A successful response that no Forge server gives, for instance a web site's page. */
export const notForge = (host: string): Failure =>
  new Failure(exitCode.unavailable, `${host} responds, but not like a Forge server`, {
    lines: ['hint: check the address and the port in --host or FORGE_HOST'],
    fields: { reason: 'not_forge' },
  })
