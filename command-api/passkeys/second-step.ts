import { hasPasskeys } from '../../auth/relying-party.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Asked } from '../commit/asked.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import type { ChallengeOf } from './challenges.ts'
import { beginProof, prove } from './prove.ts'
import { installation } from './relying-party.ts'

/** `sid`: the session that they confirm; null: they sign in. */
type Step = { username: string; sid: string | null; passkey?: unknown }

/** A passkey as the second step after the password. */
export const passkeyStep = (deps: Deps) => ({
  begin: async (step: Step): Promise<object | null> =>
    hasPasskeys(installation(deps)) ? beginProof(deps, challengeOf(step)) : null,

  async prove(asked: Asked, step: Step): Promise<{ use(tx: Transaction): Promise<void> } | null> {
    if (!hasPasskeys(installation(deps))) return null
    try {
      const given = { of: challengeOf(step), username: step.username, credential: step.passkey }
      return await prove(deps, asked, given)
    } catch (error) {
      if (error instanceof Refusal && error.code === 'unauthenticated') return null
      throw error
    }
  },
})

/** The challenges of a session, and those of a sign-in whose password was right, are good for nothing else. */
const challengeOf = ({ sid, username }: Step): ChallengeOf =>
  sid === null ? { sid, username } : { sid, username: null }
