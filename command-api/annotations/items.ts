import { digestOf } from '../../platform/digest.ts'
import type { AnnotationJudge, AnnotationKind } from '../../schemas/annotations.ts'
import type { DatasetReport } from '../../schemas/datasets/report.ts'
import type { ValidationSample } from '../../schemas/validation.ts'

/** What annotators see, frozen when the queue is created. */
export type Item = {
  digest: string
  /** The messages before the answer. */
  prompt: unknown[]
  /** Two of a pairwise item. */
  responses: string[]
  sources: string[]
  judge: AnnotationJudge
}

export type SampleOfRun = ValidationSample & { run_id: string }
export type DatasetRow = { row: number; data: unknown }

/** An answer with where it comes from, and what a judge said about it. */
type Response = { text: string; source: string; score: number | null }

/** `others`: the samples to pair with; null: pairs are among `samples`. Samples without an answer are left out. */
export function itemsOfSamples(
  kind: AnnotationKind,
  samples: readonly SampleOfRun[],
  others: readonly SampleOfRun[] | null,
): Item[] {
  const answered = samples.filter(hasAnswer)
  if (kind !== 'pairwise')
    return answered.map(sample => single(promptOf(sample), responseOf(sample)))
  return pairsOf(answered, others?.filter(hasAnswer) ?? null).flatMap(([one, other]) =>
    one.assistant === other.assistant
      ? []
      : [pair(promptOf(one), [responseOf(one), responseOf(other)])],
  )
}

const hasAnswer = ({ assistant }: SampleOfRun) => assistant !== null

const promptOf = ({ user }: SampleOfRun): unknown[] =>
  user === null ? [] : [{ role: 'user', content: user }]

const responseOf = ({ run_id, sample_id, assistant, reward }: SampleOfRun): Response => ({
  text: assistant ?? '',
  source: `sample:${run_id}/${sample_id}`,
  score: typeof reward === 'number' ? reward : null,
})

type Pair<T> = [T, T]

/** Samples of one prompt: the first and the second, the third and the fourth, or each and its counterpart. */
function pairsOf(
  samples: readonly SampleOfRun[],
  others: readonly SampleOfRun[] | null,
): Pair<SampleOfRun>[] {
  const counterparts = others && byPrompt(others)
  return [...byPrompt(samples)].flatMap(([key, found]) => {
    const against = counterparts ? (counterparts.get(key) ?? []) : found.filter(isSecond)
    const from = counterparts ? found : found.filter((_, nth) => !isSecond(_, nth))
    return from.flatMap((one, nth): Pair<SampleOfRun>[] => {
      const other = against[nth]
      return other ? [[one, other]] : []
    })
  })
}

const isSecond = (_: unknown, nth: number) => nth % 2 === 1

function byPrompt(samples: readonly SampleOfRun[]): Map<string, SampleOfRun[]> {
  const found = new Map<string, SampleOfRun[]>()
  for (const sample of samples) {
    if (sample.sample_key === null) continue
    const same = found.get(sample.sample_key) ?? []
    same.push(sample)
    found.set(sample.sample_key, same)
  }
  return found
}

type RowKind = NonNullable<DatasetReport['kind']>

/** The kinds of datasets whose rows a queue of this kind can show. */
export const kindsFor: Readonly<Record<AnnotationKind, readonly RowKind[]>> = {
  pairwise: ['preference'],
  rubric: ['chat', 'text'],
  edit: ['chat', 'text', 'prompt'],
}

/** `place`: `owner/name@n/split`. The kind of the dataset is one of `kindsFor`. */
export function itemsOfRows(rows: readonly DatasetRow[], kind: RowKind, place: string): Item[] {
  return rows.map(({ row, data }) => {
    const source = `row:${place}/${row}`
    const fields = data as Record<string, unknown>
    if (kind === 'preference') return preferenceItem(fields, source)
    return single(...responseIn(kind, fields, source))
  })
}

function responseIn(
  kind: RowKind,
  { messages, prompt, text }: Record<string, unknown>,
  source: string,
): [unknown[], Response] {
  if (kind === 'text') return [[], { text: String(text), source, score: null }]
  if (kind === 'prompt') return [messagesOf(prompt), { text: '', source, score: null }]
  const { before, answer } = splitAnswer(messagesOf(messages))
  return [before, { text: answer, source, score: null }]
}

function preferenceItem(
  { prompt, chosen, rejected }: Record<string, unknown>,
  source: string,
): Item {
  const sides = [chosen, rejected].map(side =>
    typeof side === 'string' ? { before: [], answer: side } : splitAnswer(messagesOf(side)),
  ) as Pair<{ before: unknown[]; answer: string }>
  const [one, other] = sides
  const isShared = JSON.stringify(one.before) === JSON.stringify(other.before)
  const said = isShared ? one.before : []
  const texts = sides.map(({ before, answer }) =>
    isShared ? answer : [...before.map(asText), answer].join('\n\n'),
  )
  return pair(
    [...messagesOf(prompt), ...said],
    [
      { text: texts[0] ?? '', source: `${source}#chosen`, score: 1 },
      { text: texts[1] ?? '', source: `${source}#rejected`, score: 0 },
    ],
  )
}

function messagesOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  return typeof value === 'string' ? [{ role: 'user', content: value }] : []
}

/** The last message, if the assistant wrote it, and those before it. */
function splitAnswer(messages: readonly unknown[]): { before: unknown[]; answer: string } {
  const last = messages.at(-1) as { role?: unknown; content?: unknown } | undefined
  return last?.role === 'assistant'
    ? { before: messages.slice(0, -1), answer: textIn(last.content) }
    : { before: [...messages], answer: '' }
}

const asText = (message: unknown): string => {
  const { role, content } = message as { role?: unknown; content?: unknown }
  return `${String(role)}: ${textIn(content)}`
}

function textIn(content: unknown): string {
  if (content === null || content === undefined) return ''
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return JSON.stringify(content)
  return content
    .map((part: unknown) => {
      const { text } = (part ?? {}) as { text?: unknown }
      return typeof text === 'string' ? text : JSON.stringify(part)
    })
    .join('\n')
}

function single(given: unknown[], { text, source, score }: Response): Item {
  const [prompt, responses] = [given.map(storable), [storableText(text)]]
  const digest = digestOf({ prompt, responses })
  return { digest, prompt, responses, sources: [source], judge: { choice: null, score } }
}

/** Which answer comes first follows from the digest, so that the place of an answer says nothing about it. */
function pair(before: unknown[], given: Pair<Response>): Item {
  const prompt = before.map(storable)
  const sorted = given.map(({ text }) => text).sort()
  const isSwapped = Number.parseInt(digestOf({ prompt, responses: sorted }).slice(-1), 16) % 2 === 1
  const first = given[0].text <= given[1].text
  const [a, b] = first === isSwapped ? [given[1], given[0]] : given
  const responses = [a.text, b.text].map(storableText)
  return {
    digest: digestOf({ prompt, responses }),
    ...{ prompt, responses, sources: [a.source, b.source] },
    judge: { choice: better(a.score, b.score), score: null },
  }
}

/** The database stores neither U+0000 nor halves of surrogate pairs. */
const storableText = (text: string) => text.toWellFormed().replaceAll('\0', '\ufffd')

function storable(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(storable)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [storableText(key), storable(inner)]),
  )
}

const better = (a: number | null, b: number | null): AnnotationJudge['choice'] => {
  if (a === null || b === null) return null
  return a === b ? 'tie' : a > b ? 'a' : 'b'
}
