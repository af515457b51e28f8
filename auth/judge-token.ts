import { type Seal, seal, unseal } from './sealed.ts'

/** Which revision the requests go to, and for which judging or build of an RL environment. */
export type JudgeAccess = { deployment_id: string; revision_id: string; judging_id: string }

/**
 * Short-lived credentials with which Forge itself sends requests to its gateways. Sealed for a deployment, under a key that only
 * Forge's processes have; besides them, only the isolated rollouts of an RL environment get one, whose publisher may ask the deployment.
 */
export type JudgeTokens = {
  issue(access: JudgeAccess, until: Date): string
  /** Null for any other text, for another deployment, and once it has expired. */
  open(token: string, deployment_id: string, now: Date): JudgeAccess | null
}

const prefix = 'fjt_'

/** `root` is the same in every process of an installation. */
export function judgeTokens(root: Buffer): JudgeTokens {
  const of = (owner: string): Seal => ({ root, purpose: 'forge judge token', owner })
  return {
    issue({ deployment_id, revision_id, judging_id }, until) {
      const text = JSON.stringify([revision_id, judging_id, until.getTime()])
      return `${prefix}${seal(text, of(deployment_id)).toString('base64url')}`
    },
    open(token, deployment_id, now) {
      if (!token.startsWith(prefix)) return null
      const sealed = Buffer.from(token.slice(prefix.length), 'base64url')
      const text = unseal(sealed, of(deployment_id))
      if (text === null) return null
      const [revision_id, judging_id, until]: [string, string, number] = JSON.parse(text)
      return until > now.getTime() ? { deployment_id, revision_id, judging_id } : null
    },
  }
}
