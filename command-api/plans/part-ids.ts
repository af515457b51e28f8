import { hash } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

type Part = { plan_id: string; stage: string; attempt: number; n: number }

/**
 * The id of a run or deployment of a plan, with the time of the plan: derived, so that a repeated start cannot make a second one.
 */
export function partId(prefix: 'run' | 'dep', { plan_id, stage, attempt, n }: Part): string {
  const digest = hash('sha256', JSON.stringify([prefix, plan_id, stage, attempt, n]))
  const random = Array.from({ length: 16 }, (_, nth) =>
    alphabet.charAt(Number.parseInt(digest.slice(nth * 2, nth * 2 + 2), 16) % 32),
  )
  return `${prefix}_${plan_id.slice(4, 14)}${random.join('')}`
}
