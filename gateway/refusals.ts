import type { IncomingMessage, ServerResponse } from 'node:http'
import { type RawHeaders, sandbox } from './headers.ts'

/** The gateway's own responses (specification, "Errors"); all others come from the engine. */
export type GatewayRefusal = {
  status: 400 | 401 | 403 | 404 | 405 | 408 | 413 | 501 | 502 | 503 | 504
  code: string
  detail: string
  retryAfterSeconds?: number
}

export const unknownPath: GatewayRefusal = {
  status: 404,
  code: 'not_found',
  detail: 'Inference is at /inference/{deployment_id}/v1/…',
}
export const illegalPath = (why: string): GatewayRefusal => ({
  status: 400,
  code: 'illegal_path',
  detail: `The request was refused: ${why}`,
})
export const noMethod = (method: string): GatewayRefusal => ({
  status: 405,
  code: 'method_not_allowed',
  detail: `${method} is not passed on`,
})
export const noUpgrade = (protocol: string): GatewayRefusal => ({
  status: 501,
  code: 'upgrade_not_supported',
  detail: `Connections cannot be upgraded to ${protocol} here; engines are reached by plain requests and streams`,
})
export const noDeployment = (id: string): GatewayRefusal => ({
  status: 404,
  code: 'deployment_not_found',
  detail: `No such deployment: ${id.slice(0, 128)}`,
})
export const noToken: GatewayRefusal = {
  status: 401,
  code: 'invalid_token',
  detail: 'This deployment is opened by one of its own tokens: Authorization: Bearer fdt_…',
}
export const noOrigin: GatewayRefusal = {
  status: 403,
  code: 'origin_not_allowed',
  detail:
    'Web pages of this origin may not call this address: a maintainer adds the origin to allowed_origins of the deployment',
}
export const noPerson: GatewayRefusal = {
  status: 401,
  code: 'invalid_token',
  detail: 'A playground session is opened by the access token of the person who opened it',
}
export const noSession = (id: string): GatewayRefusal => ({
  status: 404,
  code: 'session_not_found',
  detail: `No such playground session: ${id.slice(0, 128)}; if it has ended, open another one`,
})
export const suspended: GatewayRefusal = {
  status: 503,
  code: 'deployment_suspended',
  detail: 'The deployment is suspended',
  retryAfterSeconds: 30,
}
export const noReplica: GatewayRefusal = {
  status: 503,
  code: 'no_ready_revision',
  detail: 'No engine of the promoted revision is responding now',
  retryAfterSeconds: 5,
}
export const busy = (most: number): GatewayRefusal => ({
  status: 503,
  code: 'too_many_requests',
  detail: `The deployment has ${most} requests under way, the most that it accepts at once`,
  retryAfterSeconds: 1,
})
export const tooLarge = (most: number): GatewayRefusal => ({
  status: 413,
  code: 'body_too_large',
  detail: `The body is larger than ${most} bytes, the most that this deployment accepts`,
})
export const tooSlow = (silentMs: number, timeout_s: number): GatewayRefusal => ({
  status: 408,
  code: 'request_timeout',
  detail: `The body did not arrive in time: at most ${silentMs / 1000} s may pass without a byte, and ${timeout_s} s in all (limits.timeout_s)`,
})
export const silentEngine = (timeout_s: number): GatewayRefusal => ({
  status: 504,
  code: 'engine_timeout',
  detail: `The engine did not respond within ${timeout_s} s (limits.timeout_s of the deployment)`,
})
export const unreachable = (why: string): GatewayRefusal => ({
  status: 502,
  code: 'engine_unreachable',
  detail: `The engine failed before it responded: ${why}`,
})
export const away = (what: string): GatewayRefusal => ({
  status: 503,
  code: 'unavailable',
  detail: what,
  retryAfterSeconds: 2,
})

const kindOf = (status: number): string => {
  if (status === 401) return 'authentication_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}

/** In the shape of all refusals and of the OpenAI API, whose clients show `error.message`. */
export function refuse(
  req: IncomingMessage,
  res: ServerResponse,
  { status, code, detail, retryAfterSeconds }: GatewayRefusal,
  { request_id, cors }: { request_id: string; cors: RawHeaders },
): void {
  const error = { message: detail, type: kindOf(status), param: null, code }
  const body = JSON.stringify({ detail, code, request_id, error })
  // An engine may have set this header already.
  res.statusMessage = ''
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': request_id,
    'cache-control': 'no-store',
    ...sandbox,
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(status === 405 && { allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' }),
    // The rest of the body must not be read as another request.
    ...(!req.complete && { connection: 'close' }),
  }
  res.writeHead(status, [...Object.entries(headers).flat(), ...cors])
  res.end(body)
}
