import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RawHeaders } from './headers.ts'
import type { ServingMap } from './map.ts'
import { deploymentIn } from './path.ts'

/** How long browsers may remember that an origin is allowed, in seconds: a withdrawal reaches them after that. */
const maxAgeSeconds = 600
const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
const headerNames = /^[\w!#$%&'*+.^`|~-]+(\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/
const maxNames = 4096

/** Whether a browser asks if a page may send a request; it sends this question without a token. */
export const isPreflight = ({ method, headers }: IncomingMessage): boolean =>
  method === 'OPTIONS' &&
  headers.origin !== undefined &&
  headers['access-control-request-method'] !== undefined

/**
 * The headers that allow the page that sent this request to read the response, by the settings of its deployment.
 * None of them for other origins, and for deployments that nobody allowed any origin or that do not exist.
 */
export function corsOf(map: ServingMap, { url = '', headers }: IncomingMessage): RawHeaders {
  const allowed = map.deployment(deploymentIn(url))?.allowed_origins ?? []
  if (allowed.length === 0) return []
  if (allowed.includes('*'))
    return [...['Access-Control-Allow-Origin', '*'], ...['Access-Control-Expose-Headers', '*']]
  // Caches must not give one origin the response to another, even if that one was refused.
  const vary = ['Vary', 'Origin']
  const { origin } = headers
  if (origin === undefined || !allowed.includes(origin)) return vary
  return [
    ...['Access-Control-Allow-Origin', origin],
    ...['Access-Control-Expose-Headers', '*'],
    ...vary,
  ]
}

/** Responds to a preflight whose origin is allowed, without credentials: tokens are sent as `Authorization`. */
export function allowPreflight(
  req: IncomingMessage,
  res: ServerResponse,
  { cors, request_id }: { cors: RawHeaders; request_id: string },
): void {
  const asked = String(req.headers['access-control-request-headers'] ?? '')
  const names = asked.length <= maxNames && headerNames.test(asked) ? asked : ''
  res.writeHead(204, [
    ...cors,
    ...['Vary', 'Access-Control-Request-Headers'],
    ...['Access-Control-Allow-Methods', methods],
    // `*` would not include Authorization.
    ...['Access-Control-Allow-Headers', names || 'Authorization, Content-Type'],
    ...['Access-Control-Max-Age', String(maxAgeSeconds)],
    ...['X-Request-Id', request_id],
    ...(req.complete ? [] : ['Connection', 'close']),
  ])
  res.end()
}

export const isAllowed = (cors: RawHeaders): boolean => cors.includes('Access-Control-Allow-Origin')
