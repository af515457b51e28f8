/**
 * The first segments of all paths that Forge serves. A base path contains none of them anywhere, so that clients find its
 * end in the address of any page. `clients/python/src/forge/sign_in.py` has the same list.
 */
export const ownSegments: readonly string[] = [
  '.well-known',
  'admin',
  'annotations',
  'approvals',
  'api',
  'assets',
  'benchmarks',
  'billing',
  'compare',
  'datasets',
  'deployments',
  'device',
  'diagnoses',
  'environments',
  'healthz',
  'hub-imports',
  'inference',
  'models',
  'notifications',
  'plans',
  'playground',
  'projects',
  'queue',
  'reflows',
  'rubrics',
  'runs',
  'search',
  'settings',
  'submit',
  'teams',
  'usage',
  'volumes',
]

const isOwn = (segment: string): boolean => ownSegments.includes(segment)

/** The first segment of a path that is Forge's own, or null. */
export const ownSegmentIn = (path: string): string | null => path.split('/').find(isOwn) ?? null

/** The path under which a proxy serves Forge, without a slash at its end, given that of a page or of the API. */
export function pathOfProxy(path: string): string {
  const segments = path.split('/')
  const own = segments.findIndex(isOwn)
  return (own < 0 ? path : segments.slice(0, own).join('/')).replace(/\/+$/, '')
}
