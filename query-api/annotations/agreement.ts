import {
  cohenKappa,
  intervalAlpha,
  nominalAlpha,
  ordinalAlpha,
  rankCorrelation,
} from '../../events/calculations/agreement.ts'
import type {
  AnnotationAgreement,
  AnnotationAnswer,
  AnnotationJudge,
  AnnotationKind,
  AnnotationRubric,
} from '../../schemas/annotations.ts'

type Queue = { queue_id: string; kind: AnnotationKind; rubric: AnnotationRubric | null }
export type Answered = {
  item: number
  username: string
  answer: AnnotationAnswer | null
  judge: AnnotationJudge | null
}

type Value = string | number
/** The value that one person gave to one item, in one measure. */
type Said = { item: number; username: string; value: Value }

export function agreementOf(
  queue: Queue,
  answers: readonly Answered[],
): Omit<AnnotationAgreement, 'judges'> {
  const { queue_id, kind } = queue
  return {
    ...{ queue_id, kind, answers: answers.length },
    measures: measuresOf(queue).map(({ name, valueIn }) =>
      measure(
        name,
        answers.flatMap(({ item, username, answer }) => {
          const value = answer && valueIn(answer)
          return value === null || value === undefined ? [] : [{ item, username, value }]
        }),
      ),
    ),
    judge: againstJudge(queue, answers),
  }
}

type Measured = { name: string; valueIn: (answer: AnnotationAnswer) => Value | null | undefined }

function measuresOf({ kind, rubric }: Queue): Measured[] {
  if (kind === 'pairwise') return [{ name: 'choice', valueIn: ({ choice }) => choice }]
  if (kind === 'edit') return [{ name: 'text', valueIn: ({ text }) => text }]
  return (rubric?.criteria ?? []).map(({ name }) => ({
    name,
    valueIn: ({ scores }) => scores?.[name],
  }))
}

/** `a` is better, neither, `b` is better. */
const rankOfChoice: Record<string, number> = { a: 0, tie: 1, b: 2 }

function measure(name: string, said: readonly Said[]) {
  const units = [...byItem(said).values()].map(unit => unit.map(({ value }) => value))
  const pairable = units.filter(unit => unit.length > 1)
  const numbers =
    name === 'text'
      ? null
      : pairable.map(unit =>
          unit.map(value => (typeof value === 'number' ? value : (rankOfChoice[value] ?? 0))),
        )
  return {
    name,
    items: pairable.length,
    equal: equalPairs(pairable),
    alpha: {
      nominal: nominalAlpha(pairable),
      ordinal: numbers && ordinalAlpha(numbers),
      interval: numbers && intervalAlpha(numbers),
    },
    kappa: kappas(said),
  }
}

function byItem<T extends { item: number }>(rows: readonly T[]): Map<number, T[]> {
  const items = new Map<number, T[]>()
  for (const row of rows) {
    const same = items.get(row.item) ?? []
    same.push(row)
    items.set(row.item, same)
  }
  return items
}

function equalPairs(units: readonly (readonly Value[])[]): number | null {
  let [equal, all] = [0, 0]
  for (const unit of units)
    for (const [nth, one] of unit.entries())
      for (const other of unit.slice(nth + 1)) {
        all++
        if (one === other) equal++
      }
  return all === 0 ? null : equal / all
}

const mostPairs = 100

function kappas(said: readonly Said[]) {
  const common = new Map<string, { people: [string, string]; values: [Value, Value][] }>()
  for (const unit of byItem(said).values())
    for (const [nth, one] of unit.entries())
      for (const other of unit.slice(nth + 1)) {
        const [first, second] = one.username < other.username ? [one, other] : [other, one]
        const key = `${first.username}/${second.username}`
        const found = common.get(key) ?? { people: [first.username, second.username], values: [] }
        found.values.push([first.value, second.value])
        common.set(key, found)
      }
  return [...common.values()]
    .sort((a, b) => b.values.length - a.values.length || (a.people < b.people ? -1 : 1))
    .slice(0, mostPairs)
    .map(({ people, values }) => ({ people, items: values.length, kappa: cohenKappa(values) }))
}

/** Edits have no judge. */
function againstJudge(queue: Queue, answers: readonly Answered[]) {
  const items = [...byItem(answers).values()]
  if (queue.kind === 'pairwise') {
    const pairs = items.flatMap((unit): [string, string][] => {
      const judged = unit[0]?.judge?.choice
      return judged ? [[majority(unit), judged]] : []
    })
    const equal = pairs.filter(([people, judged]) => people === judged).length
    return {
      items: pairs.length,
      equal: pairs.length === 0 ? null : equal / pairs.length,
      ...{ kappa: cohenKappa(pairs), correlation: null },
    }
  }
  const pairs = items.flatMap((unit): [number, number][] => {
    const judged = unit[0]?.judge?.score ?? null
    const score = queue.rubric && meanScore(queue.rubric, unit)
    return judged === null || score === null ? [] : [[score, judged]]
  })
  return { items: pairs.length, equal: null, kappa: null, correlation: rankCorrelation(pairs) }
}

/** A tie if as many people prefer either side. */
function majority(unit: readonly Answered[]): string {
  const times = (choice: string) => unit.filter(({ answer }) => answer?.choice === choice).length
  const [a, b] = [times('a'), times('b')]
  if (times('tie') > Math.max(a, b) || a === b) return 'tie'
  return a > b ? 'a' : 'b'
}

function meanScore({ criteria }: AnnotationRubric, unit: readonly Answered[]): number | null {
  const weights = criteria.reduce((sum, { weight }) => sum + weight, 0)
  if (weights === 0) return null
  const scored = unit.map(({ answer }) =>
    criteria.reduce((sum, { name, weight }) => sum + weight * (answer?.scores?.[name] ?? 0), 0),
  )
  return scored.reduce((sum, score) => sum + score, 0) / weights / unit.length
}
