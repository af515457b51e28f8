import ipaddr from 'ipaddr.js'
import type { Context } from 'koa'

/**
 * Where a request comes from: the socket's address, or the one the trusted proxies wrote down
 * (`SERVICE_TRUSTED_PROXY_HOPS`). IPv4 behind an IPv6 socket reads as IPv4. Every use of an address in
 * limits, logs and shown to people goes through here.
 */
export function clientAddress(ctx: Context): string {
  // With `proxy` and `maxIpsCount` set, koa answers the entry our outermost proxy added; all left of it
  // is whatever the client claimed.
  const claimed = parse(ctx.ip)
  return (claimed ?? parse(ctx.socket.remoteAddress ?? ''))?.toString() ?? 'unknown'
}

/** What is counted as one client: an IPv4 address, or the /64 network that one IPv6 subscriber holds. */
export function clientNetwork(address: string): string {
  const parsed = parse(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed?.toString() ?? 'unknown'
  const network = new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0])
  return `${network.toString()}/64`
}

function parse(address: string) {
  return ipaddr.isValid(address) ? ipaddr.process(address) : null
}
