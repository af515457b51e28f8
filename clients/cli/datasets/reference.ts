import { type Api, segment } from '../api/client.ts'
import { usageFailure } from '../program/failure.ts'

/** The path of a dataset `OWNER/NAME`, or `NAME` of the caller. */
export async function pathOfDataset(api: Api, named: string): Promise<string> {
  const [owner = '', name, ...others] = named.split('/')
  if (named.includes('@') || others.length > 0 || owner === '' || name === '')
    throw usageFailure(`${named}: name a dataset as OWNER/NAME`)
  if (name !== undefined) return pathOf(owner, name)
  const me = await api.get<{ username: string }>('/api/auth/me')
  return pathOf(me.username, owner)
}

/** The path of a version `OWNER/NAME@N`. */
export function pathOfVersion(ref: string): string {
  const [, owner, name, version] = /^([^/@]+)\/([^/@]+)@([1-9]\d{0,8})$/.exec(ref) ?? []
  if (owner === undefined || name === undefined)
    throw usageFailure(`${ref}: name a version as OWNER/NAME@N`)
  return `${pathOf(owner, name)}/versions/${version}`
}

const pathOf = (owner: string, name: string) => `/api/datasets/${segment(owner)}/${segment(name)}`
