/** What decides who sees a dataset, and who uses it. */
export type DatasetAccess = {
  owner: string
  visibility: 'private' | 'public'
  /** Who uses a public dataset: everybody, or only people with that grant. */
  use: 'everybody' | 'granted'
}
export type Grant = { see: boolean; use: boolean }

/** Each standing includes those before it. `see`: versions and card; `use`: rows, files and training; `write`: everything else. */
export const datasetStandings = ['hidden', 'see', 'use', 'write'] as const
export type DatasetStanding = (typeof datasetStandings)[number]

/** The one rule for access to datasets; the row-level policies of the read models repeat its `see`. */
export function datasetStanding(
  { owner, visibility, use }: DatasetAccess,
  grant: Grant | null,
  { username, role }: { username: string; role: string },
): DatasetStanding {
  if (username === owner || role === 'admin') return 'write'
  const isPublic = visibility === 'public'
  if (grant?.use || (isPublic && use === 'everybody')) return 'use'
  return grant?.see || isPublic ? 'see' : 'hidden'
}

export const standsAtLeast = (standing: DatasetStanding, needed: DatasetStanding): boolean =>
  datasetStandings.indexOf(standing) >= datasetStandings.indexOf(needed)
