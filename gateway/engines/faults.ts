/** Repeating these has no further effect (RFC 9110, 9.2.2). */
export const idempotent = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])
const closed = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])
const unreached = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  // A Unix socket is gone, accepts nothing, or is not the socket of an engine.
  ...['ENOENT', 'EAGAIN', 'ENOTSOCK', 'ELOOP', 'EACCES'],
  // The engine has ended since this request was admitted.
  'UND_ERR_CLOSED',
])
const codeOf = (error: Error): string => ('code' in error ? String(error.code) : '')

/** Whether the engine closed the connection. */
export const isClosed = (error: Error): boolean => closed.has(codeOf(error))

/** Whether no connection was established, so that the engine cannot have seen the request. */
export const isUnreached = (error: Error): boolean => unreached.has(codeOf(error))

/** Whether it took longer to respond than the deployment allows. */
export const isSilent = (error: Error): boolean => codeOf(error) === 'UND_ERR_HEADERS_TIMEOUT'

const words: Record<string, string> = {
  UND_ERR_BODY_TIMEOUT: 'it fell silent',
  UND_ERR_SOCKET: 'it closed the connection',
}
export const faultMessage = (error: Error): string =>
  words[codeOf(error)] ?? (codeOf(error) || 'it broke off')
