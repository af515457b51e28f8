import test from 'ava'
import { lastUpTo, readingsAt } from '../../clients/console/src/charts/nearest.ts'
import { lineOf } from '../../clients/console/src/charts/series.ts'
import {
  columnsOf,
  namesOf,
  textOfColumns,
} from '../../clients/console/src/pages/projects/columns.ts'
import { shownOf, shownText, withWord } from '../../clients/console/src/pages/projects/shown.ts'
import {
  nextOrder,
  type Order,
  orderFrom,
  ordersOf,
  textOfOrder,
} from '../../clients/console/src/pages/projects/sort.ts'

const runs = Array.from({ length: 30 }, (_, nth) => ({ short_id: `my-demo-${30 - nth}` }))

test('the address names the shown runs briefly, and the newest ten not at all', t => {
  const text = (numbers: number[]) =>
    shownText(
      runs,
      runs.filter(({ short_id }) => numbers.includes(Number(short_id.split('-')[2]))),
    )
  t.is(shownText(runs, runs.slice(0, 10)), undefined)
  t.is(shownText(runs.slice(0, 3), runs.slice(0, 3)), undefined)
  t.is(text([]), 'none')
  t.is(text([7]), '7')
  t.is(text([1, 2, 3, 9, 11, 12]), '1-3,9,11-12')
  for (const numbers of [[], [7], [30, 29], [1, 2, 3, 9, 11, 12]])
    t.deepEqual(
      shownOf(runs, text(numbers)).map(({ short_id }) => Number(short_id.split('-')[2])),
      [...numbers].sort((a, b) => b - a),
    )
  t.is(shownOf(runs, undefined).length, 10)
  t.deepEqual(
    shownOf(runs, '99,x,3-,2-1,1e3,28-40').map(({ short_id }) => short_id),
    ['my-demo-30', 'my-demo-29', 'my-demo-28'],
  )
})

const line = (points: [step: number, value: number | null][], runId = 'a') => ({
  runId,
  ...lineOf(
    {
      key: 'k',
      bucketed: false,
      points: points.map(([step, value]) => [step, value, value, value, value ?? 'NaN', step]),
      nonfinite: [],
    },
    runId,
    'step',
    0,
  ),
})

test('a line shows its nearest value at the cursor, and nothing before its first or past its last point', t => {
  t.is(lastUpTo([1, 3, 5], 0), -1)
  t.is(lastUpTo([1, 3, 5], 3), 1)
  t.is(lastUpTo([1, 3, 5], 9), 2)
  t.is(lastUpTo([], 9), -1)
  const whole = line([
    [0, 5],
    [10, 6],
    [20, 7],
  ])
  const short = line(
    [
      [0, 1],
      [5, null],
    ],
    'b',
  )
  const lines = [whole, short, line([], 'c')]
  const at = (x: number) => readingsAt(lines, x).map(({ line, value }) => [line.runId, value])
  t.deepEqual(at(0).flat(), ['a', 5, 'b', 1])
  t.deepEqual(at(6), [['a', 6]])
  t.deepEqual(at(4), [['a', 5]], 'a value that is not finite is no value')
  t.deepEqual(at(14), [['a', 6]])
  t.deepEqual(at(-1), [])
  t.deepEqual(at(21), [])
})

test('an order of the runs survives the address, whatever the metric is called', t => {
  const orders = ordersOf(['val/loss', 'a:b:last', '-x'], ['hparam:-lr', 'duration_s'], {
    column: 'metric:gone:min',
    isFalling: true,
  })
  t.is(orders.length, 12)
  for (const order of orders) t.deepEqual(orderFrom(textOfOrder(order)), order)
  for (const text of [undefined, '', '-', 'tags', 'metric:loss', 'metric::last', 'hparam:'])
    t.is(orderFrom(text), null, String(text))
})

test('words narrow the listed runs while they are typed, and leave a search with operators to the server', t => {
  const listed = [
    { short_id: 'sweep-1', name: 'Baseline λ', tags: [] },
    { short_id: 'sweep-2', name: null, tags: ['baseline', 'long'] },
    { short_id: 'other-3', name: 'sweep', tags: [] },
  ]
  const found = (text: string) => withWord(listed, text).map(({ short_id }) => short_id)
  t.deepEqual(found('baseline'), ['sweep-1', 'sweep-2'])
  t.deepEqual(found('SWEEP'), ['sweep-1', 'sweep-2', 'other-3'])
  t.deepEqual(found('long baseline'), ['sweep-2'])
  t.deepEqual(found('λ'), ['sweep-1'])
  t.deepEqual(found('nothing'), [])
  for (const text of ['', 'tag:long', 'loss<1', 'a OR b', '"two words"'])
    t.is(found(text).length, 3, text)
})

test('the columns of a workspace are in its address, the best metric or the one sorted by without any', t => {
  t.deepEqual(columnsOf(undefined, null), ['best'])
  t.deepEqual(columnsOf(undefined, orderFrom('-metric:loss:min')), ['metric:loss:min'])
  t.deepEqual(columnsOf(undefined, orderFrom('name')), ['best'], 'every row has its name')
  const chosen = ['hparam:a,b', 'metric:val/loss:last', 'owner', 'best']
  t.deepEqual(columnsOf(textOfColumns(chosen), orderFrom('-metric:loss:min')), chosen)
  t.deepEqual(columnsOf('', null), [], 'none was chosen')
  t.is(textOfColumns(['best']), undefined)
  t.deepEqual(columnsOf('name,owner,nonsense,metric:x:mode,owner', null), ['owner'])
  t.deepEqual(namesOf(chosen), { metrics: ['val/loss'], hparams: ['a,b'] })
  const clicks = ['-lr', 'lr', null, '-lr'].map(text => text?.replace('lr', 'hparam:lr') ?? null)
  let order: Order | null = null
  for (const text of clicks) {
    order = nextOrder('hparam:lr', order)
    t.is(order && textOfOrder(order), text)
  }
})
