import { digestOf } from '../../platform/digest.ts'
import type { LookedStage, MovedFact, PlannedStage, SeenFact } from '../../schemas/plans.ts'

type Looked = readonly Pick<LookedStage, 'seen'>[]

/** The digest of the stages and of everything that the gates relied on. */
export const digestOfPlan = (stages: readonly PlannedStage[], looked: Looked): string =>
  digestOf({ stages, seen: looked.map(({ seen }) => seen) })

/** What differs between two looks at the same stages. */
export const movedBetween = (
  stages: readonly Pick<PlannedStage, 'name'>[],
  before: Looked,
  after: Looked,
): MovedFact[] =>
  stages.flatMap(({ name }, nth) => movedIn(name, before[nth]?.seen ?? [], after[nth]?.seen ?? []))

export function movedIn(
  stage: string,
  before: readonly SeenFact[],
  after: readonly SeenFact[],
): MovedFact[] {
  const [was, now] = [byName(before), byName(after)]
  return [...new Map([...was, ...now]).values()].flatMap(({ what, name }) => {
    const key = keyOf({ what, name })
    const [from, to] = [was.get(key)?.is ?? null, now.get(key)?.is ?? null]
    return from === to ? [] : [{ stage, what, name, from, to }]
  })
}

const keyOf = ({ what, name }: Pick<SeenFact, 'what' | 'name'>) => JSON.stringify([what, name])

/** Facts of one name, such as two versions of one dataset, count as one. */
function byName(facts: readonly SeenFact[]): Map<string, SeenFact> {
  const found = new Map<string, SeenFact>()
  for (const fact of facts) {
    const known = found.get(keyOf(fact))
    found.set(keyOf(fact), known ? { ...fact, is: `${known.is}, ${fact.is}` } : fact)
  }
  return found
}

/** `dataset team/x: … → …`, for people. */
export const movedText = ({ what, name, from, to }: MovedFact): string =>
  `${what} ${name}: ${from ?? 'none'} → ${to ?? 'none'}`
