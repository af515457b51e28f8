import ipaddr from 'ipaddr.js'
import type { Context } from 'koa'

/**
 * The client's address: the socket's, or the one recorded by the trusted proxies (`SERVICE_TRUSTED_PROXY_HOPS`).
 * IPv4-mapped IPv6 becomes IPv4. Every address in limits, logs and responses comes from here.
 */
export function clientAddress(ctx: Context): string {
  // With `proxy` and `maxIpsCount` set, koa returns the entry added by our outermost proxy; everything to its left is
  // only the client's claim.
  const claimed = parse(ctx.ip)
  return (claimed ?? parse(ctx.socket.remoteAddress ?? ''))?.toString() ?? 'unknown'
}

/** The unit of rate limits: an IPv4 address, or an IPv6 /56 network, which many providers give to one household. */
export function clientNetwork(address: string): string {
  const parsed = parse(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed?.toString() ?? 'unknown'
  const [first = 0, second = 0, third = 0, fourth = 0] = parsed.parts
  const network = new ipaddr.IPv6([first, second, third, fourth & 0xff00, 0, 0, 0, 0])
  return `${network.toString()}/56`
}

function parse(address: string) {
  return ipaddr.isValid(address) ? ipaddr.process(address) : null
}
