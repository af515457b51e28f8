import ipaddr from 'ipaddr.js'
import type { Context } from 'koa'

/**
 * The client's address: the socket's, or the one recorded by the trusted proxies (`SERVICE_TRUSTED_PROXY_HOPS`).
 * IPv4-mapped IPv6 becomes IPv4. Every address in limits, logs and responses comes from here.
 */
export function clientAddress(ctx: Context): string {
  // With `proxy` and `maxIpsCount` set, koa returns the entry added by our outermost proxy; everything left
  // of it is only the client's claim.
  const claimed = parse(ctx.ip)
  return (claimed ?? parse(ctx.socket.remoteAddress ?? ''))?.toString() ?? 'unknown'
}

/** The unit of rate limits: an IPv4 address, or the /64 network of an IPv6 subscriber. */
export function clientNetwork(address: string): string {
  const parsed = parse(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed?.toString() ?? 'unknown'
  const network = new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0])
  return `${network.toString()}/64`
}

function parse(address: string) {
  return ipaddr.isValid(address) ? ipaddr.process(address) : null
}
