import { Refusal } from '../../platform/refusal.ts'
import type { ReflowRule } from '../../schemas/reflows.ts'
import type { Deps } from '../deps.ts'
import type { Asking } from '../rules/access.ts'
import { resolveRubric } from '../rules/rubric-reference.ts'
import type { ReflowSources } from './port.ts'
import type { ScoresOf } from './take.ts'

/** The scores that judges have given by the rubric of a rule; refuses if it has another version by now, whose scores are others. */
export async function scoresBy(
  deps: Deps,
  sources: ReflowSources,
  { rubric, caller }: Pick<ReflowRule, 'rubric'> & { caller: Asking },
): Promise<ScoresOf> {
  if (rubric === null) return async () => new Map()
  const found = await resolveRubric(deps.store, rubric.ref, caller)
  if (found.is !== 'found')
    throw new Refusal('conflict', whyNot(rubric.ref, found), { code: 'reflow.rubric' })
  return samples => sources.scoresOf(deps, found.content, samples)
}

const whyNot = (ref: string, found: { is: 'missing' } | { is: 'outdated'; version: number }) =>
  found.is === 'missing'
    ? `The rubric ${ref} is no longer there`
    : `The rubric ${ref} is at version ${found.version} by now; create a reflow for it`
