import { parseEnvironmentReference } from '../../../schemas/rl-environments/reference.ts'
import { type Api, segment } from '../api/client.ts'
import { namedPath } from '../api/named-path.ts'
import { usageFailure } from '../program/failure.ts'

const base = '/api/environments'

/** The path of an environment `OWNER/NAME`, or `NAME` of the caller. */
export const pathOfEnvironment = (api: Api, named: string): Promise<string> =>
  namedPath(api, named, { base, noun: 'an environment' })

/** The path of a version `OWNER/NAME@VERSION`. */
export function pathOfVersion(ref: string): string {
  const found = parseEnvironmentReference(ref)
  if (!found) throw usageFailure(`${ref}: name a version as OWNER/NAME@0.2.1`)
  return [base, segment(found.owner), segment(found.name), segment(found.version)].join('/')
}
