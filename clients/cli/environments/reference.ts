import { parseEnvironmentReference } from '../../../schemas/rl-environments/reference.ts'
import { type Api, segment } from '../api/client.ts'
import { usageFailure } from '../program/failure.ts'

/** The path of an environment `OWNER/NAME`, or `NAME` of the caller. */
export async function pathOfEnvironment(api: Api, named: string): Promise<string> {
  const [owner = '', name, ...others] = named.split('/')
  if (named.includes('@') || others.length > 0 || owner === '' || name === '')
    throw usageFailure(`${named}: name an environment as OWNER/NAME`)
  if (name !== undefined) return pathOf(owner, name)
  const me = await api.get<{ username: string }>('/api/auth/me')
  return pathOf(me.username, owner)
}

/** The path of a version `OWNER/NAME@VERSION`. */
export function pathOfVersion(ref: string): string {
  const found = parseEnvironmentReference(ref)
  if (!found) throw usageFailure(`${ref}: name a version as OWNER/NAME@0.2.1`)
  return `${pathOf(found.owner, found.name)}/${segment(found.version)}`
}

const pathOf = (owner: string, name: string) =>
  `/api/environments/${segment(owner)}/${segment(name)}`
