import test from 'ava'
import { parseFilter, parseOrder } from '../../query-api/mlflow/search-filter.ts'

const field = (of: string, key: string) => ({ of, key })

const read: [filter: string, conditions: object[]][] = [
  ['', []],
  ['metrics.loss < 0.5', [{ ...field('metric', 'loss'), comparator: '<', values: [0.5] }]],
  [
    'metric.val/loss>=-1e-3',
    [{ ...field('metric', 'val/loss'), comparator: '>=', values: [-0.001] }],
  ],
  [
    'params."batch size" = \'32\' and params.`a.b` != "x"',
    [
      { ...field('param', 'batch size'), comparator: '=', values: ['32'] },
      { ...field('param', 'a.b'), comparator: '!=', values: ['x'] },
    ],
  ],
  [
    "tags.mlflow.source.name ILIKE '%it''s%' AND tags.x IS NOT NULL",
    [
      { ...field('tag', 'mlflow.source.name'), comparator: 'ILIKE', values: ["%it's%"] },
      { ...field('tag', 'x'), comparator: 'IS NOT NULL', values: [] },
    ],
  ],
  [
    "attributes.run_id NOT IN ('a', 'b') and start_time > 5 and `run name` = 'c'",
    [
      { ...field('attribute', 'run_id'), comparator: 'NOT IN', values: ['a', 'b'] },
      { ...field('attribute', 'start_time'), comparator: '>', values: [5] },
      { ...field('attribute', 'run_name'), comparator: '=', values: ['c'] },
    ],
  ],
]
for (const [filter, conditions] of read)
  test(`the filter is understood: ${filter}`, t => {
    t.deepEqual(parseFilter(filter) as object[], conditions)
  })

const refused = [
  'metrics.a < 1 OR metrics.b < 1',
  "metrics.a < '1'",
  'metrics.a LIKE 1',
  'params.a = 1',
  "params.a < '1'",
  'metrics.a',
  'metrics.',
  'metrics.a < ',
  'color = "red"',
  'constructor = "x"',
  "status IN ('a'",
  "tags.a = 'b' tags.c = 'd'",
  "tags.a = 'b",
  'metrics.a < one',
  Array.from({ length: 21 }, () => 'metrics.a < 1').join(' and '),
]
for (const filter of refused)
  test(`the filter is refused: ${filter.slice(0, 60)}`, t => {
    t.throws(() => parseFilter(filter), { code: 'invalid' })
  })

test('an order names a field, ascending by default', t => {
  t.deepEqual(parseOrder('metrics.`val loss` desc'), {
    ...field('metric', 'val loss'),
    desc: true,
  } as never)
  t.deepEqual(parseOrder('start_time'), {
    ...field('attribute', 'start_time'),
    desc: false,
  } as never)
  t.throws(() => parseOrder('metrics.a DESC now'), { code: 'invalid' })
})
