/** The path under which this console is served, without a slash at its end: '' at the root of a host. */
export const basePath: string =
  typeof document === 'undefined'
    ? ''
    : (document.querySelector<HTMLMetaElement>('meta[name="base-path"]')?.content ?? '')

/** A path of this server without its base path. */
export const belowBasePath = (path: string): string =>
  path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path

/** Where the `Link` of a response leads, as a path that requests take; null: nowhere. */
export function linkIn(response: Response, rel: 'next' | 'prev'): string | null {
  const links = response.headers.get('link') ?? ''
  const path = new RegExp(`<([^>]+)>; rel="${rel}"`).exec(links)?.[1]
  return path === undefined ? null : belowBasePath(path)
}
