import type { Context } from 'koa'
import { basePathOf } from './base-path.ts'

/**
 * The address by which this client reaches the server: its own, if it asked another host than that of the public address, for
 * instance from inside a cluster. Only for responses to the client itself.
 */
export function addressAsAsked(
  { host, protocol }: Pick<Context, 'host' | 'protocol'>,
  baseUrl: string,
): string {
  if (host === '' || host === new URL(baseUrl).host) return baseUrl
  return `${protocol}://${host}${basePathOf(baseUrl)}`
}
