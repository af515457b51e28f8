import { Unreachable } from '../../platform/http/outgoing.ts'
import { isHubRepo } from '../../schemas/hub-pushes.ts'
import type { Deps } from '../deps.ts'
import { NotGiven } from './hub-answers.ts'
import { hubAway, hubTokenOf, noHub } from './model-hub.ts'

type Fault = { why: string; code: string }

/** Why this person cannot send a model there, as far as the hub says now; null: nothing speaks against it. */
export async function pushFault(
  { pool, sealing, hub }: Pick<Deps, 'pool' | 'sealing' | 'hub'>,
  { repo, username }: { repo: string; username: string },
): Promise<Fault | null> {
  if (!isHubRepo(repo))
    return { why: `${repo} is no repository of the hub; write <org>/<name>`, code: 'hub.repo' }
  if (hub === null) throw noHub()
  const token = await hubTokenOf(pool, sealing, username)
  if (token === null) return { why: noTokenToWrite, code: 'hub.no_token' }
  try {
    await hub.sending.admit({ repo, token })
    return null
  } catch (error) {
    if (error instanceof NotGiven)
      return { why: `The model hub does not take ${repo}: ${error.message}`, code: 'hub.refused' }
    if (!(error instanceof Unreachable)) throw error
    throw hubAway(hub, error)
  }
}

export const noTokenToWrite =
  'You have no secret HF_TOKEN; make a token with write access at the hub and set it (forge secret set HF_TOKEN)'
