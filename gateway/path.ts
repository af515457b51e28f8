/** The parts of a request target that matter to a gateway. */
export type Target =
  | { kind: 'engine'; deployment_id: string; path: string }
  /** Not below `/inference/{deployment_id}/v1`. */
  | { kind: 'unknown' }
  /** It could mean another path to an engine than to us. */
  | { kind: 'illegal'; why: string }

const maxLength = 8 * 1024
const shape = /^\/inference\/([^/?]+)(\/[^?]*)?(\?.*)?$/s
/** Characters of a path and a query (RFC 3986), apart from `#`, which ends it. */
const legal = /^[\w\-.~:/?[\]@!$&'()*+,;=%|^`{}"<>]*$/
/** Slashes, backslashes, dots and NULs that hide behind a percent sign, or behind two. */
const hidden = /%(25)*(2f|5c|2e|00|0[ad])/i

/** Whether a request is for a gateway, even if the gateway will refuse it. */
export const isInference = (url: string): boolean =>
  url === '/inference' || /^\/inference[/?]/.test(url)

/** The deployment that a request target names, however wrong the rest of it is; '' if it names none. */
export const deploymentIn = (url: string): string => shape.exec(url)?.[1] ?? ''

/** The engine's path in a request target, byte for byte as sent (specification, "Inference"). */
export function targetOf(url: string): Target {
  if (url.length > maxLength) return { kind: 'illegal', why: 'the address is longer than 8 KiB' }
  if (!legal.test(url))
    return { kind: 'illegal', why: 'the address has a character that is not allowed in addresses' }
  const [, deployment_id = '', path = '', query = ''] = shape.exec(url) ?? []
  if (/%(?![0-9a-f]{2})/i.test(url))
    return { kind: 'illegal', why: 'the address has a % that encodes nothing' }
  if (hidden.test(deployment_id + path))
    return { kind: 'illegal', why: 'the path hides a slash, a dot or a control character' }
  if (path.split('/').some(part => part === '.' || part === '..'))
    return { kind: 'illegal', why: 'the path has a segment of dots' }
  if (deployment_id === '' || !/^\/v1(\/|$)/.test(path)) return { kind: 'unknown' }
  return { kind: 'engine', deployment_id, path: path + query }
}
