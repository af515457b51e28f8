/** A model of the hub at a branch, tag or commit; without one, at the branch `main`. */
export type HubReference = { repo: string; revision: string }

const part = '[A-Za-z0-9][A-Za-z0-9._-]{0,95}'
const pattern = new RegExp(`^hub:(${part}/${part})(?:@([A-Za-z0-9][A-Za-z0-9._/-]{0,127}))?$`)

/** `hub:<org>/<name>[@<revision>]`; null: not written like that. */
export function parseHubReference(text: string): HubReference | null {
  const [, repo, revision = 'main'] = pattern.exec(text) ?? []
  // Servers and clients on the way would take them for steps to another path.
  if (repo === undefined || /\.\.|\/\//.test(`${repo} ${revision}`)) return null
  return { repo, revision }
}

export const hubReference = ({ repo, commit }: { repo: string; commit: string }): string =>
  `hub:${repo}@${commit}`

export const isCommit = (revision: string): boolean => /^[0-9a-f]{40}$/.test(revision)

/** A reference that names a commit, as admitted jobs have it. */
export function pinnedModel(ref: string | undefined): { repo: string; commit: string } | null {
  const found = parseHubReference(ref ?? '')
  return found && isCommit(found.revision) ? { repo: found.repo, commit: found.revision } : null
}
