import test from 'ava'
import { increments } from '../../clients/console/src/charts/increments.ts'
import { partsFor } from '../../clients/console/src/charts/parts.ts'
import {
  boundariesOf,
  chartsOf,
  type Line,
  labelIn,
  lineOf,
  type MetricSeries,
  smoothed,
} from '../../clients/console/src/charts/series.ts'
import { slotsFor } from '../../clients/console/src/charts/slots.ts'
import { widthIn } from '../../clients/console/src/charts/uplot-series.ts'
import { drawableLimits } from '../../clients/console/src/charts/view.ts'
import { asText, pannedBy, rangeFrom, zoomedBy } from '../../clients/console/src/charts/zoom.ts'

const startMs = 1_000_000

const series = (more: Partial<MetricSeries> = {}): MetricSeries => ({
  key: 'loss',
  bucketed: false,
  points: [
    [1, 2, 2, 2, 2, startMs + 1_000],
    [5, 4, 4, 4, 4, startMs + 2_500],
  ],
  nonfinite: [],
  ...more,
})

test('a line is placed by steps, by seconds since the start, or by seconds of the epoch', t => {
  const at = (x: 'step' | 'relative' | 'time') => lineOf(series(), 'loss', x, startMs).x
  t.deepEqual(at('step'), [1, 5])
  t.deepEqual(at('relative'), [1, 2.5])
  t.deepEqual(at('time'), [1_001, 1_002.5])
})

test('a line goes through the means of buckets, keeps their extremes, and shows the newest value', t => {
  const points: MetricSeries['points'] = [[99, -3, 50, 1.5, 1.25, startMs]]
  const line = lineOf(series({ bucketed: true, points }), 'loss', 'step', startMs)
  t.like(line, { value: [1.5], min: [-3], max: [50], isBucketed: true })
  t.deepEqual(line.last, { step: 99, value: 1.25 })
})

test('a non-finite value interrupts a line and is marked at its position, on every axis', t => {
  const broken = series({
    points: [
      [1, 2, 2, 2, 2, startMs],
      [2, null, null, null, 'NaN', startMs + 4_000],
    ],
    nonfinite: [[2, 1]],
  })
  t.deepEqual(lineOf(broken, 'loss', 'step', startMs).value, [2, null])
  t.deepEqual(lineOf(broken, 'loss', 'step', startMs).nonfinite, [{ x: 2, count: 1 }])
  t.deepEqual(lineOf(broken, 'loss', 'relative', startMs).nonfinite, [{ x: 4, count: 1 }])
  t.is(lineOf(broken, 'loss', 'step', startMs).last?.value, 'NaN')
})

test('a smoothed line is not pulled to zero by its beginning, keeps gaps, and is the line itself at weight 0', t => {
  t.deepEqual(smoothed([5, 5, null, 5], 0.9), [5, 5, null, 5])
  t.deepEqual(smoothed([1, 2], 0), [1, 2])
  // (0.5·0.5·0 + 0.5·1) / (0.25 + 0.5)
  t.is(smoothed([0, 1], 0.5)[1], 0.5 / 0.75)
})

test('attempts begin at their time, or at the first step that was reported after it', t => {
  const starts = [startMs + 2_000, startMs + 9_000]
  t.deepEqual(boundariesOf([series()], starts, 'step', startMs), [5])
  t.deepEqual(boundariesOf([series()], starts, 'relative', startMs), [2, 9])
  t.deepEqual(boundariesOf([series()], starts, 'time', startMs), [1_002, 1_009])
})

test('only siblings that differ in an index share a chart, in the order of their numbers', t => {
  const classes = [10, 2, 1].map(n => `val/accuracy/class_${n}`)
  t.deepEqual(chartsOf(['train/lr', 'f1', ...classes, 'val/accuracy', 'train/loss']), [
    { title: 'train/loss', keys: ['train/loss'] },
    { title: 'val/accuracy', keys: ['val/accuracy'] },
    {
      title: 'val/accuracy[…]',
      keys: ['val/accuracy/class_1', 'val/accuracy/class_2', 'val/accuracy/class_10'],
    },
    { title: 'f1', keys: ['f1'] },
    { title: 'train/lr', keys: ['train/lr'] },
  ])
})

test('an axis of any numbers has between two and ten labels', t => {
  for (let order = -300; order <= 300; order++) {
    const span = 5 * 10 ** order
    const fitting = increments.filter(step => span / step >= 2 && span / step <= 10)
    t.true(fitting.length > 0, `1e${order}`)
  }
  t.deepEqual(
    increments,
    increments.toSorted((a, b) => a - b),
  )
})

test('panning moves a range by a share of its width, and on a logarithmic axis by decades', t => {
  t.deepEqual(pannedBy({ from: 100, to: 200 }, 0.5, false), { from: 150, to: 250 })
  t.deepEqual(pannedBy({ from: 100, to: 200 }, -1, false), { from: 0, to: 100 })
  t.deepEqual(pannedBy({ from: 10, to: 1000 }, 0.5, true), { from: 100, to: 10_000 })
})

test('every key is in exactly one chart', t => {
  const keys = ['a', 'a1', 'a2', 'a/b', 'a/b/0', 'a/b/1', 'x_0', 'x', 'loss/layer_3', '7', 'a//1']
  t.deepEqual(
    chartsOf(keys)
      .flatMap(chart => chart.keys)
      .sort(),
    keys.sort(),
  )
  const titles = chartsOf(keys).map(({ title }) => title)
  t.is(new Set(titles).size, titles.length)
})

test('a key is named in its chart by its distinguishing part', t => {
  const keys = ['val/acc/class_1', 'val/acc/class_2']
  t.is(labelIn(keys, 'val/acc/class_2'), 'class_2')
  t.is(labelIn(['val/acc'], 'val/acc'), 'val/acc')
})

test('a range survives in an address, and an invalid one means everything', t => {
  for (const range of [{ from: -1.5, to: 2e-7 }, { from: 1790000000.25, to: 1790000001 }, null])
    t.deepEqual(rangeFrom(asText(range)), range)
  for (const text of ['', '..', '1..', '..2', '2..1', '1..1', '1..Infinity', 'a..b', '1..2..3'])
    t.is(rangeFrom(text), null, text)
})

test('zooming keeps the place of the cursor', t => {
  t.deepEqual(zoomedBy({ from: 0, to: 100, at: 80 }, 0.5), { from: 40, to: 90 })
  t.deepEqual(zoomedBy({ from: 40, to: 90, at: 80 }, 2), { from: 0, to: 100 })
})

test('a logarithmic axis has no limit at or below zero, where drawing it would never end', t => {
  const limits = { low: -5, high: 10 }
  t.deepEqual(drawableLimits(false, limits), limits)
  t.deepEqual(drawableLimits(true, limits), { low: null, high: 10 })
  t.deepEqual(drawableLimits(true, { low: 0, high: 0 }), { low: null, high: null })
  t.deepEqual(drawableLimits(true, { low: 0.1, high: null }), { low: 0.1, high: null })
})

const runs = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, nth) => `run_${from + nth}`)

test('a run that is hidden and shown again is not read again, and a new one is read alone', t => {
  const first = partsFor([], runs(1, 100))
  t.deepEqual(first, [runs(1, 100)])
  const without = partsFor(first, runs(2, 100))
  t.deepEqual(without, first)
  t.deepEqual(partsFor(without, runs(1, 100)), first)
  const more = partsFor(first, runs(1, 101))
  t.deepEqual(more, [runs(1, 100), ['run_101']])
  t.deepEqual(partsFor(more, runs(101, 101)), [['run_101']])
})

test('shown runs are read in one request where most are hidden, or after many small reads', t => {
  t.deepEqual(partsFor([runs(1, 100)], runs(1, 40)), [runs(1, 40)])
  let parts = partsFor([], runs(1, 10))
  for (let last = 11; last <= 18; last++) parts = partsFor(parts, runs(1, last))
  t.deepEqual(parts, [runs(1, 18)])
})

test('a plot shows and hides the lines it was made for, and is replaced for others', t => {
  const lineOfRun = (nth: number): Line => ({
    ...lineOf(series(), 'loss', 'step', startMs),
    runId: `run_${nth}`,
    stroke: { token: `curve-${nth}`, dash: [] },
  })
  const made = [1, 2, 3, 4, 5, 6].map(lineOfRun)
  const fewer = made.filter((_, nth) => nth !== 1)
  t.deepEqual(slotsFor(made, fewer, 4), {
    lines: made,
    shown: [true, false, true, true, true, true],
  })
  const newer = { ...lineOfRun(1), value: [7, 8] }
  t.is(slotsFor(made, [newer, ...fewer.slice(1)], 4).lines[0], newer)
  const others = [...fewer, lineOfRun(9)]
  t.deepEqual(slotsFor(made, others, 4), { lines: others, shown: others.map(() => true) })
  const few = made.slice(0, 3)
  t.is(slotsFor(made, few, 4).lines, few)
})

test('lines are one pixel wide where a chart has more than 20, unless they are means of groups', t => {
  const lines = (count: number, more: { isGroup?: true } = {}) =>
    Array.from({ length: count }, () => more)
  t.is(widthIn({ lines: lines(20) }, 1.5, 2), 1.5)
  t.is(widthIn({ lines: lines(21) }, 1.5, 2), 0.5)
  t.is(widthIn({ lines: lines(200) }, 1.5, 1), 1)
  t.is(widthIn({ lines: lines(21, { isGroup: true }) }, 1.5, 1), 1.5)
})
