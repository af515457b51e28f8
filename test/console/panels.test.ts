import test from 'ava'
import { over } from '../../clients/console/src/charts/over.ts'
import { blurred, smoothed } from '../../clients/console/src/charts/series.ts'
import { factsOf, strokesOf, usualPanels } from '../../clients/console/src/pages/compare/facts.ts'
import {
  byValue,
  hiddenFrom,
  hiddenText,
  strokeOfGroup,
} from '../../clients/console/src/pages/projects/groups.ts'
import {
  faultOfName,
  isBare,
  searchOf,
  stateOf,
} from '../../clients/console/src/pages/projects/view-state.ts'
import { axisFrom, nameOfAxis, neededBy } from '../../clients/console/src/panels/axis.ts'
import { isFull, moved, panelsFrom, panelsText } from '../../clients/console/src/panels/panel.ts'
import { panelFromForm } from '../../clients/console/src/panels/panel-form.ts'
import { isWide, scaleOf } from '../../clients/console/src/panels/scale.ts'
import { exactly } from '../../schemas/validate.ts'
import { type Panel, workspaceState } from '../../schemas/workspace.ts'

const panels: Panel[] = [
  { kind: 'line', keys: ['loss', 'a,b'], over: 'tokens', logX: true, low: -1, smooth: 0.5, w: 6 },
  { kind: 'line', keys: ['损失 🚀'], x: 'relative', high: 3, filter: 'gaussian', h: 2 },
  { kind: 'scatter', x: 'hparams.lr', y: 'loss:min', colour: 'hparams.bs', logX: true },
  { kind: 'bar', metric: 'loss:last', title: 'Losses' },
  { kind: 'parallel', axes: ['hparams.lr', 'loss:last'], colour: 'loss:last' },
  { kind: 'importance', metric: 'loss:min' },
  { kind: 'note', text: '# Title' },
]

test('panels survive the address, and the server takes what the console saves', t => {
  t.deepEqual(panelsFrom(panelsText(panels)), panels)
  const search = { q: 'state:failed', runs: '1-3', range: '1..2', panels: panelsText(panels) }
  const state = stateOf({ ...search, view: 'mine', part: 'x' })
  t.deepEqual(state, { q: 'state:failed', runs: '1-3', range: '1..2', panels })
  t.is(exactly(workspaceState)(state), null)
  t.like(searchOf(state), search)
  t.true(isBare({}))
  t.false(isBare({ view: 'default' }))
})

test('whatever an address holds, the page shows the panels in it that are valid', t => {
  for (const text of ['', '{', '{}', 'null', '[null, 1, [], {}]', '[{"kind":"pie"}]'])
    t.deepEqual(panelsFrom(text), [], text)
  t.deepEqual(panelsFrom('[{"kind":"line","keys":["a",7,""],"w":99,"h":0,"smooth":2,"x":"y"}]'), [
    { kind: 'line', keys: ['a'], w: 6, h: 1 },
  ])
  t.deepEqual(panelsFrom('[{"kind":"line","keys":[]},{"kind":"parallel","axes":["a"]}]'), [])
  const many = JSON.stringify(Array.from({ length: 50 }, () => ({ kind: 'note', text: '' })))
  t.is(panelsFrom(many).length, 40)
  t.deepEqual(searchOf({ panels: 'none', q: 7 }).panels, undefined)
})

test('a view takes no name of another view of the same person, nor that of the project default', t => {
  const rows = [
    { view: 'default', owner: null },
    { view: 'mine', owner: 'ada' },
    { view: 'theirs', owner: 'bob' },
  ]
  t.is(faultOfName('mine', rows, 'ada'), 'taken')
  t.is(faultOfName('default', [], 'ada'), 'reserved')
  for (const view of ['theirs', 'new', 'Default']) t.is(faultOfName(view, rows, 'ada'), null)
})

test('an address has room for 40 panels, and for fewer where they are large', t => {
  const notes = (count: number, text: string) =>
    Array.from({ length: count }, (): Panel => ({ kind: 'note', text }))
  t.false(isFull(notes(39, '')))
  t.true(isFull(notes(40, '')))
  t.false(isFull(notes(3, 'x'.repeat(2_000))))
  t.true(isFull(notes(4, 'x'.repeat(2_000))))
})

test('the form of a line chart stores either filter, and none where it follows the other charts', t => {
  const made = (filter: string) => {
    const form = new FormData()
    form.set('keys', 'loss')
    form.set('filter', filter)
    return panelFromForm('line', form, null)
  }
  t.deepEqual(made('exponential'), { kind: 'line', keys: ['loss'], filter: 'exponential' })
  t.deepEqual(made('gaussian'), { kind: 'line', keys: ['loss'], filter: 'gaussian' })
  t.deepEqual(made('like'), { kind: 'line', keys: ['loss'] })
})

test('a moved panel takes the place that it is moved to', t => {
  t.deepEqual(moved(['a', 'b', 'c'], 0, 2), ['b', 'c', 'a'])
  t.deepEqual(moved(['a', 'b', 'c'], 2, 0), ['c', 'a', 'b'])
  t.deepEqual(moved(['a', 'b', 'c'], 1, 1), ['a', 'b', 'c'])
})

test('an axis is a hyperparameter or a metric', t => {
  t.deepEqual(axisFrom('hparams.opt.lr'), { hparam: 'opt.lr' })
  t.deepEqual(axisFrom('val:loss:min'), { metric: 'val:loss', of: 'min' })
  t.deepEqual(axisFrom('loss'), { metric: 'loss', of: 'last' })
  t.is(nameOfAxis('loss:last'), 'loss')
  t.is(nameOfAxis('loss:max'), 'loss (max)')
  t.deepEqual(neededBy(['hparams.lr', 'loss:min', 'loss:last', 'hparams.lr']), {
    metrics: ['loss'],
    hparams: ['lr'],
  })
})

test('a scale places numbers evenly or by their logarithms, words in order, and nothing else', t => {
  const even = scaleOf([0, 10, null, 5], false)
  t.deepEqual([0, 5, 10, null, 'x'].map(even.placeOf), [0, 0.5, 1, null, null])
  t.deepEqual(
    even.ticks.map(({ text }) => text),
    ['0', '2', '4', '6', '8', '10'],
  )
  const log = scaleOf([1e-4, 1, 0, -3], true)
  t.deepEqual([1e-4, 1e-2, 1, 0, -3].map(log.placeOf), [0, 0.5, 1, null, null])
  t.is(new Set(log.ticks.map(({ text }) => text)).size, log.ticks.length)
  const words = scaleOf(['sgd', 'adam', 'lion', null], false)
  t.deepEqual(['adam', 'lion', 'sgd', null, 'other'].map(words.placeOf), [0, 0.5, 1, null, null])
  t.deepEqual(scaleOf([7, 7], false).placeOf(7), 0.5)
  t.deepEqual(scaleOf([null], false).ticks, [])
})

test('positive numbers over more than two orders of magnitude are wide', t => {
  t.true(isWide([1e-4, null, 'auto', 1]))
  for (const values of [[1, 100], [0, 1000], [-1, 1000], [], ['a'], [5]])
    t.false(isWide(values), JSON.stringify(values))
  t.false(isWide([1, Number.POSITIVE_INFINITY]))
})

test('a Gaussian keeps gaps and constants, and does not shift a peak as an average of earlier values does', t => {
  t.deepEqual(blurred([1, null, 3], 0), [1, null, 3])
  const constant = blurred([2, 2, null, 2], 0.9)
  t.true(constant.every(value => value === null || Math.abs(value - 2) < 1e-9))
  t.is(constant[2], null)
  const peak = Array.from({ length: 41 }, (_, x) => Math.max(0, 5 - Math.abs(x - 20)))
  const at = (values: readonly (number | null)[]) =>
    values.indexOf(Math.max(...values.map(value => value ?? 0)))
  t.is(at(blurred(peak, 0.7)), 20)
  t.true(at(smoothed(peak, 0.7)) > 20)
})

const line = (x: number[], value: (number | null)[]) => ({
  ...{ label: '', runId: 'a', x, value, min: value, max: value },
  ...{ nonfinite: [], isBucketed: false, last: null },
})

test('a line over another metric is in the order of its values, and without points that have none', t => {
  const axis = { x: [1, 2, 4], value: [30, 10, null] }
  t.like(over(line([0, 1, 2, 3, 4], [5, 6, 7, 8, 9]), axis), { x: [10, 30], value: [8, 6] })
  t.deepEqual(over(line([0], [1]), axis).x, [])
})

test('groups have colours by their values, and the address names the hidden ones', t => {
  t.deepEqual([null, '10', 'x', '9'].toSorted(byValue), ['9', '10', 'x', null])
  for (const given of [
    ['9', '10', '1a', ''],
    ['1a', '', '9', '10'],
    ['10', '1a', '9', ''],
  ])
    t.deepEqual(given.toSorted(byValue), ['9', '10', '', '1a'])
  const many = Array.from({ length: 45 }, (_, nth) => String(nth))
  t.deepEqual(strokeOfGroup('41', many), { token: 'curve-2', dash: [2, 3] })
  t.is(strokeOfGroup('9', ['10', '9']).token, 'curve-1')
  t.is(strokeOfGroup('9', ['9', '10', null]).token, 'curve-1')
  t.deepEqual(hiddenFrom(hiddenText([null, 'a,"b'])), [null, 'a,"b'])
  t.is(hiddenText([]), undefined)
  for (const text of ['{', '7', '[1]', '']) t.deepEqual(hiddenFrom(text), [])
})

const comparison = (projects: readonly string[]) => ({
  runs: projects.map((project, nth) => ({
    ...{ run_id: `r${nth}`, short_id: `${project}-${7 + nth}`, name: null, project, owner: 'a' },
    ...{ state: 'running' as const, created_at: '', started_at: null, ended_at: null },
  })),
  ...{ missing: [], hparams_left_out: 0, environment: [], data: [] },
  hparams: [
    { key: 'lr', values: [1e-4, 1] },
    { key: 'opt', values: ['sgd', null] },
  ],
  metrics: [{ key: 'loss', last: [1, 2], goal: 'min' as const, best: [0.5, 1] }],
})

test('a comparison shows its runs by the hyperparameter that differs, in their own colours', t => {
  const data = comparison(['a', 'a'])
  t.deepEqual(
    strokesOf(data).map(({ token }) => token),
    ['curve-7', 'curve-8'],
  )
  t.deepEqual(
    strokesOf(comparison(['a', 'b'])).map(({ token }) => token),
    ['curve-1', 'curve-2'],
  )
  const [first] = factsOf(data)
  t.deepEqual(
    ['hparams.lr', 'hparams.none', 'loss:last', 'loss:min', 'loss:max', 'none'].map(axis =>
      first?.valueOf(axis),
    ),
    [1e-4, null, 1, 0.5, null, null],
  )
  t.like(usualPanels(data), [{ kind: 'scatter', x: 'hparams.lr', y: 'loss:min', logX: true }])
  t.deepEqual(usualPanels({ ...data, hparams: [] }), [])
})
