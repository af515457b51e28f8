import { Unreachable } from '../../platform/http/outgoing.ts'
import { isCommit } from '../../schemas/hub-reference.ts'
import type { Deps } from '../deps.ts'
import { NotGiven } from './hub-answers.ts'
import { hubAway, hubTokenOf, importIdOf, inWords, noHub } from './model-hub.ts'

type Asked = { repo: string; revision: string; username: string }
type Pinning = { is: 'pinned'; commit: string } | { is: 'refused'; why: string; code: string }

const codes: Readonly<Record<string, string>> = {
  RepoNotFound: 'hub.repo_not_found',
  RevisionNotFound: 'hub.revision_not_found',
  GatedRepo: 'hub.gated',
}

/**
 * The commit that the hub names, if it gives the files to this person, by their own token. The hub is asked each time, because
 * an import by one person proves nothing about another, or about later. Throws refusals without a hub, or if it is away.
 */
export async function pinForPerson(
  deps: Pick<Deps, 'pool' | 'sealing' | 'hub'>,
  { repo, revision, username }: Asked,
): Promise<Pinning> {
  const { hub, pool, sealing } = deps
  if (hub === null) throw noHub()
  try {
    const token = await hubTokenOf(pool, sealing, username)
    const { commit } = await hub.pin({ repo, revision, token })
    return { is: 'pinned', commit }
  } catch (error) {
    if (error instanceof NotGiven) {
      const ref = `hub:${repo}@${revision}`
      return { is: 'refused', why: inWords(error, ref), code: codes[error.code] ?? 'hub.refused' }
    }
    if (!(error instanceof Unreachable)) throw error
    if (await isImportedOpenly(deps, { repo, revision, username })) {
      return { is: 'pinned', commit: revision }
    }
    throw hubAway(hub, error)
  }
}

/** Whether the person has this commit already, and the hub gave it to everybody then. */
async function isImportedOpenly(
  { pool }: Pick<Deps, 'pool'>,
  { repo, revision, username }: Asked,
): Promise<boolean> {
  if (!isCommit(revision)) return false
  const { rowCount } = await pool.query({
    name: 'is_imported_openly',
    text: `select from write.hub_import where import_id = $1 and state = 'ready' and is_open`,
    values: [importIdOf(username, { repo, commit: revision })],
  })
  return rowCount === 1
}
