import { hash } from 'node:crypto'
import type { Plan, Stage } from '../../events/plans.ts'
import type { Started } from './decide.ts'
import { assignmentsOf } from './sweep.ts'

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

type Part = { plan_id: string; stage: string; attempt: number; n: number }

/**
 * The id of a run or deployment of a plan, with the time of the plan: derived, so that a repeated start cannot make a second one.
 */
function partId(prefix: 'run' | 'dep', { plan_id, stage, attempt, n }: Part): string {
  const digest = hash('sha256', JSON.stringify([prefix, plan_id, stage, attempt, n]))
  const random = Array.from({ length: 16 }, (_, nth) =>
    alphabet.charAt(Number.parseInt(digest.slice(nth * 2, nth * 2 + 2), 16) % 32),
  )
  return `${prefix}_${plan_id.slice(4, 14)}${random.join('')}`
}

type Made = NonNullable<Plan>

/** The runs or the deployment that the next attempt of a stage starts. */
export function nextParts({ plan_id }: Pick<Made, 'plan_id'>, stage: Stage): Started {
  const attempt = stage.attempts + 1
  const of = { plan_id, stage: stage.name, attempt }
  if (stage.kind === 'deploy')
    return { attempt, runs: [], deployment_id: partId('dep', { ...of, n: 1 }) }
  const assignments = stage.sweep ? assignmentsOf(stage.sweep) : [{}]
  const runs = assignments.map((params, nth) => ({
    run_id: partId('run', { ...of, n: nth + 1 }),
    params,
  }))
  return { attempt, runs, deployment_id: null }
}

/** All runs of a plan: those of stages that have not started as they will be. */
export const allRunIds = (plan: Made): string[] =>
  plan.stages.flatMap(stage =>
    (stage.state === 'pending' ? nextParts(plan, stage).runs : stage.runs).map(
      ({ run_id }) => run_id,
    ),
  )
