import {
  cohenKappa,
  intervalAlpha,
  nominalAlpha,
  ordinalAlpha,
  rankCorrelation,
} from '../../events/calculations/agreement.ts'
import type { AnnotationAgreement, AnnotationRubric } from '../../schemas/annotations.ts'
import { nearestPoint } from '../../schemas/rubrics/scale.ts'
import type { Answered } from './agreement.ts'

/** What a judge said about a sample. */
export type Judged = {
  run_id: string
  sample_id: string
  deployment_id: string
  revision_id: string
  is_shown: boolean
  criteria: Record<string, number>
}

type OfSource = { answers: (Answered & { sources: string[] })[] }
type Pair = [people: number, judge: number]

/** Judges compared with people; further ones are left out. */
const mostJudges = 20

/**
 * People against each judge that scored their samples by the rubric of the queue, by criterion. People count together, with their mean.
 * What compares categories takes the nearest point of the scale, as people choose among points and judges do not.
 */
export function againstJudges(
  rubric: AnnotationRubric,
  answers: OfSource['answers'],
  judged: readonly Judged[],
): AnnotationAgreement['judges'] {
  const bySource = Map.groupBy(answers, ({ sources }) => sources[0] ?? '')
  const judges = Map.groupBy(judged, one => `${one.deployment_id}@${one.revision_id}`)
  return [...judges.values()].slice(0, mostJudges).flatMap(scores => {
    const [{ deployment_id, revision_id, is_shown } = noJudge] = scores
    const measures = rubric.criteria.map(({ name }) => {
      const pairs = scores.flatMap(({ run_id, sample_id, criteria }): Pair[] => {
        const people = bySource.get(`sample:${run_id}/${sample_id}`) ?? []
        const said = people.flatMap(({ answer }) => answer?.scores?.[name] ?? [])
        const judge = Object.hasOwn(criteria, name) ? criteria[name] : undefined
        return said.length === 0 || judge === undefined ? [] : [[mean(said), judge]]
      })
      return { name, ...compared(rubric, pairs) }
    })
    if (measures.every(({ items }) => items === 0)) return []
    return [{ judge: is_shown ? { deployment_id, revision_id } : null, measures }]
  })
}

const noJudge = { deployment_id: '', revision_id: '', is_shown: false }

function compared(rubric: AnnotationRubric, pairs: readonly Pair[]) {
  const points = pairs.map(
    ([people, judge]): Pair => [nearestPoint(rubric, people), nearestPoint(rubric, judge)],
  )
  const equal = points.filter(([people, judge]) => people === judge).length
  return {
    items: pairs.length,
    equal: pairs.length === 0 ? null : equal / pairs.length,
    kappa: cohenKappa(points),
    alpha: {
      nominal: nominalAlpha(points),
      ordinal: ordinalAlpha(pairs),
      interval: intervalAlpha(pairs),
    },
    correlation: rankCorrelation(pairs),
  }
}

const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length
