/** The path of a public address, without a slash at its end: '' at the root of a host. */
export const basePathOf = (baseUrl: string): string => new URL(baseUrl).pathname.replace(/\/$/, '')

/**
 * A request target below the base path. Other targets do not change: probes ask the server itself, and some
 * proxies remove the path.
 */
export function belowBasePath(target: string, basePath: string): string {
  if (basePath === '' || !target.startsWith(basePath)) return target
  const below = target.slice(basePath.length)
  if (below.startsWith('/')) return below
  return below === '' || below.startsWith('?') ? `/${below}` : target
}
