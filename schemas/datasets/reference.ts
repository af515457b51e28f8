/** A dataset, or one of its versions. */
export type DatasetReference = { owner: string; name: string; version: number | null }

/** Parses `owner/name` (the newest ready version) or `owner/name@3`; null for anything else. */
export function parseDatasetReference(ref: string): DatasetReference | null {
  const [, owner, name, version] =
    /^([^/@]{1,128})\/([^/@]{1,128})(?:@([1-9]\d{0,8}))?$/.exec(ref) ?? []
  if (!owner || !name) return null
  return { owner, name, version: version === undefined ? null : Number(version) }
}

export const datasetReference = ({
  owner,
  name,
  version,
}: {
  owner: string
  name: string
  version: number
}): string => `${owner}/${name}@${version}`
