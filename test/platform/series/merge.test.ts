import test from 'ava'
import fc from 'fast-check'
import { type Series, slice } from '../../../platform/series/chunk.ts'
import { resolve } from '../../../platform/series/merge.ts'
import { anySeries } from './arbitrary.ts'

const toRows = ({ arrivals, steps, ts, values }: Series) =>
  Array.from(steps, (step, i) => [step, arrivals[i], ts[i], values[i]])

/** The rule: the last arrival for each step, in order of steps. */
function byRule(series: Series) {
  const last = new Map(toRows(series).map(row => [row[0], row]))
  return [...last.values()].sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0))
}

test('the last arrival of each step wins, in order of steps', t => {
  fc.assert(
    fc.property(anySeries, series => {
      t.deepEqual(toRows(resolve([series])), byRule(series))
    }),
  )
})

test('any cut, order and repetition of deliveries gives the same series', t => {
  fc.assert(
    fc.property(
      anySeries,
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 }),
      fc.array(fc.nat(), { maxLength: 12 }),
      (series, cuts, again) => {
        const length = series.steps.length
        const edges = [0, ...cuts.map(c => Math.floor(c * length)).sort((a, b) => a - b), length]
        const parts = edges.slice(1).map((to, i) => slice(series, edges[i] ?? 0, to))
        const repeated = again.map(i => parts[i % parts.length] as Series)
        const shuffled = [...repeated, ...parts].sort(
          (a, b) => ((a.steps.length * 7919) % 13) - ((b.steps.length * 7919) % 13),
        )
        t.deepEqual(toRows(resolve(shuffled)), byRule(series))
      },
    ),
  )
})

test('resolving in steps gives the same result as at once', t => {
  fc.assert(
    fc.property(anySeries, fc.nat(80), (series, at) => {
      const early = resolve([slice(series, 0, at)])
      const late = resolve([slice(series, Math.min(at, series.steps.length), series.steps.length)])
      t.deepEqual(toRows(resolve([late, early])), byRule(series))
    }),
  )
})
