import { type Api, segment } from '../api/client.ts'
import { namedPath } from '../api/named-path.ts'
import { usageFailure } from '../program/failure.ts'

const base = '/api/datasets'

/** The path of a dataset `OWNER/NAME`, or `NAME` of the caller. */
export const pathOfDataset = (api: Api, named: string): Promise<string> =>
  namedPath(api, named, { base, noun: 'a dataset' })

/** The path of a version `OWNER/NAME@N`. */
export function pathOfVersion(ref: string): string {
  const [, owner, name, version] = /^([^/@]+)\/([^/@]+)@([1-9]\d{0,8})$/.exec(ref) ?? []
  if (owner === undefined || name === undefined)
    throw usageFailure(`${ref}: name a version as OWNER/NAME@N`)
  return `${base}/${segment(owner)}/${segment(name)}/versions/${version}`
}
