import test from 'ava'
import fc from 'fast-check'
import { parseSearch } from '../../schemas/runs/parse-search.ts'
import {
  type Condition,
  columnOf,
  metricParts,
  printSearch,
  type RunSearch,
  SearchFault,
  searchLimits,
  timeFields,
} from '../../schemas/runs/search.ts'

const comparison = fc.constantFrom('=', '!=', '<', '<=', '>', '>=') as fc.Arbitrary<'<'>
const text = fc
  .string({ unit: 'binary', minLength: 0, maxLength: 12 })
  .filter(one => !/\p{Cs}|(?!\s)\p{Cc}/u.test(one))
const words = fc.oneof(
  text,
  fc.constantFrom(
    'AND',
    'OR',
    'NOT',
    'hparams.x',
    'label.x',
    'metric:a',
    'a:b',
    '"',
    '\\',
    'val/loss',
    '(',
    'state',
    '',
  ),
)
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => value + 0)
const instant = fc
  .date({
    min: new Date('0001-01-02T00:00:00Z'),
    max: new Date('9999-12-30T00:00:00Z'),
    noInvalidDate: true,
  })
  .map(at => at.toISOString())

const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ kind: fc.constant('word' as const), text: words }),
  fc.record({
    kind: fc.constant('field' as const),
    field: fc.constantFrom(
      'owner' as const,
      'project' as const,
      'tag' as const,
      'name' as const,
      'recipe' as const,
    ),
    op: fc.constantFrom('=' as const, '!=' as const),
    value: words,
  }),
  fc.record({
    kind: fc.constant('time' as const),
    field: fc.constantFrom(...timeFields),
    op: fc.constantFrom('<' as const, '<=' as const, '>' as const, '>=' as const),
    at: instant,
  }),
  fc.record({
    kind: fc.constant('metric' as const),
    key: words,
    of: fc.constantFrom(...metricParts),
    op: comparison,
    value: number,
  }),
  fc.record({
    kind: fc.constant('hparam' as const),
    key: words,
    op: comparison,
    value: number.map(String),
  }),
  ...(['hparam', 'label'] as const).map(kind =>
    fc.record({
      kind: fc.constant(kind),
      key: words,
      op: fc.constantFrom('=' as const, '!=' as const),
      value: words,
    }),
  ),
)
const { tree } = fc.letrec<{ tree: RunSearch }>(tie => ({
  tree: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    condition,
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const),
      items: fc.array(tie('tree'), { minLength: 2, maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant('not' as const), item: tie('tree') }),
  ),
}))

test('every search can be parsed from its text', t => {
  fc.assert(
    fc.property(tree, search => {
      const printed = printSearch(search)
      fc.pre(printed.length <= searchLimits.length)
      t.deepEqual(parseSearch(printed), search, printed)
    }),
    { numRuns: 500 },
  )
})

test('any search is either parsed or refused with a position within the text', t => {
  const pieces = fc.array(
    fc.oneof(
      fc.constantFrom(
        '(',
        ')',
        '"',
        '\\',
        'AND',
        'OR',
        'NOT',
        ' ',
        ':',
        '<',
        '>=',
        '!=',
        'hparams.',
        'label.',
        'metric:',
        ':min',
        'state',
        'after:',
        '1e5',
        'a',
        '2026-11-01',
      ),
      fc.string({ unit: 'binary', maxLength: 4 }),
    ),
    { maxLength: 40 },
  )
  fc.assert(
    fc.property(pieces, given => {
      const asked = given.join('')
      try {
        const search = parseSearch(asked)
        if (search) t.deepEqual(parseSearch(printSearch(search)), search)
      } catch (error) {
        if (!(error instanceof SearchFault)) throw error
        t.true(error.at >= 0 && error.at <= Math.max(asked.length, searchLimits.length), asked)
      }
    }),
    { numRuns: 2000 },
  )
})

test('the search in the documentation parses', t => {
  t.deepEqual(parseSearch('state:failed loss<1.2 hparams.lr>=1e-5 tag:grpo after:2026-11-01'), {
    kind: 'and',
    items: [
      { kind: 'field', field: 'state', op: '=', value: 'failed' },
      { kind: 'metric', key: 'loss', of: 'last', op: '<', value: 1.2 },
      { kind: 'hparam', key: 'lr', op: '>=', value: '1e-5' },
      { kind: 'field', field: 'tag', op: '=', value: 'grpo' },
      { kind: 'time', field: 'created', op: '>=', at: '2026-11-01T00:00:00.000Z' },
    ],
  })
})

test('AND binds closer than OR, NOT closer than both, and spaces around a comparison do not matter', t => {
  const word = (name: string) => ({ kind: 'word', text: name })
  t.deepEqual(parseSearch('a b OR NOT c AND d'), {
    kind: 'or',
    items: [
      { kind: 'and', items: [word('a'), word('b')] },
      { kind: 'and', items: [{ kind: 'not', item: word('c') }, word('d')] },
    ],
  })
  t.deepEqual(parseSearch('"val loss" < 1'), parseSearch('metric:"val loss":last<1'))
  t.deepEqual(parseSearch('(a)'), word('a'))
  t.is(parseSearch(' \t'), null)
})

const refused: [search: string, column: number, says: RegExp][] = [
  ['state:asleep', 7, /no state asleep/],
  ['loss<much', 6, /compared with numbers/],
  ['loss<', 6, /missing/],
  ['a (b', 3, /not closed/],
  ['a) b', 2, /no matching \(/],
  ['"a', 1, /quote is not closed/],
  ['a OR', 5, /condition is missing/],
  ['OR a', 1, /missing before OR/],
  ['NOT', 4, /condition is missing/],
  ['colour:red', 1, /no field colour/],
  ['tag>3', 4, /no order/],
  ['created:2026-11-01', 8, /compared by/],
  ['after:yesterday', 7, /a day/],
  ['after:2026-13-01', 7, /a day/],
  ['metric:loss:mean<1', 13, /last, min and max/],
  ['hparams.lr', 11, /comparison is missing/],
  ['hparams.lr>big', 12, /compares numbers/],
  ['label.team', 11, /: or != and a value/],
  ['label.team>rl', 11, /no order.*metric:label\.team/],
  ['ü😀 loss<x', 9, /compared with numbers/],
  ['a\u0000', 2, /Control/],
  [`${'('.repeat(30)}a`, 22, /nested/],
  [`${'NOT '.repeat(30)}a`, 85, /nested/],
  ['a '.repeat(51), 101, /50 conditions/],
  [`x${'a '.repeat(600)}`, 1001, /1000 characters/],
  ['a'.repeat(251), 1, /250 characters/],
]
for (const [search, column, says] of refused)
  test(`refused at column ${column}: ${search.slice(0, 20)}`, t => {
    const error = t.throws(() => parseSearch(search), { instanceOf: SearchFault })
    t.regex(error.message, says)
    t.is(columnOf(search, error.at), column)
  })
