/**
 * Rewrites an address from the server to the host that this client uses, which differs behind a tunnel. The server accepts
 * addresses with and without the path under which it is served.
 */
export function addressAt(host: string, given: string): string {
  const { origin, pathname: base } = new URL(host)
  const { pathname, search } = new URL(given)
  const isBelow = pathname.startsWith(base.endsWith('/') ? base : `${base}/`)
  return `${isBelow ? origin : host}${pathname}${search}`
}
