import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import {
  cohenKappa,
  intervalAlpha,
  nominalAlpha,
  ordinalAlpha,
  rankCorrelation,
} from '../../events/calculations/agreement.ts'
import { seededRandom } from '../../events/calculations/queue-forecast.ts'
import { type Answered, agreementOf } from '../../query-api/annotations/agreement.ts'
import { patient } from '../servers/patience.ts'
import { pythonWith } from '../servers/python-packages.ts'

const run = promisify(execFile)
const tables = 1000

type Level = 'nominal' | 'ordinal' | 'interval'
type Reference = { kappa: (number | null)[]; alpha: Record<Level, number | null>[] }

/** Several people and many items; some cells are empty, and people tend to agree. */
function randomTable(random: () => number): (number | null)[][] {
  const below = (most: number) => Math.floor(random() * most)
  const [people, items, values] = [2 + below(5), 1 + below(40), 1 + below(7)]
  const [noise, gaps, scale] = [random(), random() * 0.7, [1, 0.25, 10][below(3)] ?? 1]
  const truth = Array.from({ length: items }, () => below(values))
  return Array.from({ length: people }, () =>
    truth.map(value => {
      if (random() < gaps) return null
      return (random() < noise ? below(values) : value) * scale
    }),
  )
}

const unitsOf = (table: (number | null)[][]): number[][] =>
  (table[0] ?? []).map((_, item) => table.flatMap(row => row[item] ?? []))

test("kappa equals scikit-learn's and alpha krippendorff's on 1,000 random tables each", async t => {
  t.timeout(patient(240_000))
  const random = seededRandom(22)
  const given = Array.from({ length: tables }, () => randomTable(random))
  const pairs = Array.from({ length: tables }, () => {
    const full = randomTable(() => random()).map(row => row.map(value => String(value)))
    const [one = [], other = []] = full
    return one.map((value, nth): [string, string] => [value, other[nth] ?? ''])
  })
  const folder = await mkdtemp(join(tmpdir(), 'forge-agreement-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const file = join(folder, 'tables.json')
  await writeFile(file, JSON.stringify({ pairs, tables: given }))
  const python = await pythonWith(join(import.meta.dirname, 'requirements.txt'))
  const { stdout } = await run(python, [join(import.meta.dirname, 'reference.py'), file], {
    maxBuffer: 64 * 1024 * 1024,
  })
  const reference: Reference = JSON.parse(stdout)
  let defined = 0
  const compare = (own: number | null, theirs: number | null, of: string) => {
    if (own === null || theirs === null) return t.is(own, theirs, of)
    defined++
    return t.true(Math.abs(own - theirs) < 1e-9, `${of}: ${own} and ${theirs}`)
  }
  for (const [nth, pair] of pairs.entries())
    compare(cohenKappa(pair), reference.kappa[nth] ?? null, `kappa of ${JSON.stringify(pair)}`)
  const own = { nominal: nominalAlpha, ordinal: ordinalAlpha, interval: intervalAlpha }
  for (const [nth, table] of given.entries())
    for (const level of ['nominal', 'ordinal', 'interval'] as const)
      compare(
        own[level](unitsOf(table)),
        reference.alpha[nth]?.[level] ?? null,
        `${level} of ${JSON.stringify(table)}`,
      )
  t.true(defined > 3_000, `only ${defined} are defined`)
})

test('where no disagreement is possible, agreement is undefined', t => {
  t.is(cohenKappa([]), null)
  t.is(cohenKappa([['a', 'a']]), null)
  t.is(cohenKappa([['a', 'b']]), 0)
  t.is(nominalAlpha([['a']]), null)
  t.is(nominalAlpha([['a', 'a']]), null)
  t.is(intervalAlpha([[1], [2]]), null)
  t.is(ordinalAlpha([]), null)
})

test('rank correlation counts orders, not differences', t => {
  t.is(
    rankCorrelation([
      [1, 10],
      [2, 20],
      [3, 1000],
    ]),
    1,
  )
  t.is(
    rankCorrelation([
      [1, 3],
      [2, 2],
      [3, 1],
    ]),
    -1,
  )
  t.is(
    rankCorrelation([
      [1, 3],
      [1, 2],
    ]),
    null,
  )
  t.is(rankCorrelation([]), null)
})

test('criteria are measured one by one, people by pairs, and their weighted mean against the judge', t => {
  const criteria = [
    { name: 'right', weight: 3, description: '' },
    { name: 'clear', weight: 1, description: '' },
  ]
  const rubric = { ref: 'a/b@1', scale_min: 0, scale_max: 4, criteria }
  const said = (item: number, username: string, right: number, clear: number): Answered => ({
    ...{ item, username, answer: { choice: null, text: null, scores: { right, clear } } },
    judge: { choice: null, score: item / 10 },
  })
  const answers = [
    ...[said(1, 'ann', 0, 1), said(1, 'ben', 0, 2)],
    ...[said(2, 'ann', 2, 4), said(2, 'ben', 2, 0), said(2, 'cat', 1, 0)],
    said(3, 'cat', 4, 4),
  ]
  const { measures, judge } = agreementOf({ queue_id: 'q', kind: 'rubric', rubric }, answers)
  t.deepEqual(
    measures.map(({ name, items, equal }) => [name, items, equal]),
    [
      ['right', 2, 0.5],
      ['clear', 2, 0.25],
    ],
  )
  t.deepEqual(
    measures[0]?.kappa.map(({ people, items, kappa }) => [...people, items, kappa]),
    [
      ['ann', 'ben', 2, 1],
      ['ann', 'cat', 1, 0],
      ['ben', 'cat', 1, 0],
    ],
  )
  t.deepEqual(judge, { items: 3, equal: null, kappa: null, correlation: 1 })
  const edited = agreementOf({ queue_id: 'q', kind: 'edit', rubric: null }, [])
  t.like(edited.measures[0], { name: 'text', items: 0, equal: null })
})
