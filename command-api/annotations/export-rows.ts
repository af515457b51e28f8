import type {
  AnnotationAnswer,
  AnnotationKind,
  AnnotationRubric,
} from '../../schemas/annotations.ts'
import type { Item } from './items.ts'

export type AnsweredItem = Pick<Item, 'digest' | 'prompt' | 'responses' | 'sources'> & {
  item: number
  /** By username. */
  answers: readonly { username: string; answer: AnnotationAnswer }[]
}

type Queue = { queue_id: string; kind: AnnotationKind; rubric: AnnotationRubric | null }

export type Exported = { kind: 'preference' | 'chat' | 'text'; rows: object[] }

/**
 * The rows of a dataset version. Every row says in `annotation` where it comes from. Items whose answers prefer neither side are
 * left out. If any item has no prompt, scores and edits become rows of text.
 */
export function exportedRows(queue: Queue, items: readonly AnsweredItem[]): Exported {
  if (queue.kind === 'pairwise')
    return { kind: 'preference', rows: items.flatMap(item => preferenceRow(queue, item)) }
  const kind = items.every(({ prompt }) => prompt.length > 0) ? 'chat' : 'text'
  const rows = items.flatMap(item =>
    queue.kind === 'rubric' ? [scoredRow(queue, item, kind)] : editedRows(queue, item, kind),
  )
  return { kind, rows }
}

function preferenceRow(queue: Queue, item: AnsweredItem): object[] {
  const times = (choice: string) =>
    item.answers.filter(({ answer }) => answer.choice === choice).length
  const votes = { a: times('a'), b: times('b'), tie: times('tie') }
  const [a = '', b = ''] = item.responses
  if (votes.a === votes.b || a === '' || b === '') return []
  const [chosen, rejected] = votes.a > votes.b ? [a, b] : [b, a]
  const { prompt } = item
  const answers =
    prompt.length === 0
      ? { chosen, rejected }
      : { prompt, chosen: [said(chosen)], rejected: [said(rejected)] }
  return [{ ...answers, annotation: { ...provenance(queue, item), votes } }]
}

function scoredRow(queue: Queue, item: AnsweredItem, kind: 'chat' | 'text'): object {
  const criteria = queue.rubric?.criteria ?? []
  const means = criteria.map(({ name, weight }) => {
    const given = item.answers.flatMap(({ answer }) => answer.scores?.[name] ?? [])
    return { name, weight, mean: given.reduce((sum, one) => sum + one, 0) / given.length }
  })
  return {
    ...content(item, item.responses[0] ?? '', kind),
    score: weightedMean(means.map(({ weight, mean }) => [mean, weight])),
    scores: Object.fromEntries(means.map(({ name, mean }) => [name, mean])),
    annotation: { ...provenance(queue, item), rubric: queue.rubric?.ref ?? null },
  }
}

/** One row for each person's text; an empty text is no row. */
const editedRows = (queue: Queue, item: AnsweredItem, kind: 'chat' | 'text'): object[] =>
  item.answers.flatMap(one => {
    const text = one.answer.text ?? ''
    if (text === '') return []
    const changed = text !== item.responses[0]
    const annotation = { ...provenance(queue, { ...item, answers: [one] }), changed }
    return [{ ...content(item, text, kind), annotation }]
  })

const content = ({ prompt }: AnsweredItem, text: string, kind: 'chat' | 'text') =>
  kind === 'chat' ? { messages: [...prompt, said(text)] } : { text }

const said = (content: string) => ({ role: 'assistant', content })

const provenance = ({ queue_id }: Queue, { item, digest, sources, answers }: AnsweredItem) => ({
  queue_id,
  item,
  digest,
  sources,
  people: answers.map(({ username }) => username),
})

/** Null if all weights are 0. */
function weightedMean(values: readonly (readonly [value: number, weight: number])[]) {
  const weights = values.reduce((sum, [, weight]) => sum + weight, 0)
  return weights === 0
    ? null
    : values.reduce((sum, [value, weight]) => sum + value * weight, 0) / weights
}
