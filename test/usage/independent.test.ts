import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import test from 'ava'
import fc from 'fast-check'
import { sumOf } from '../../events/calculations/billing.ts'
import { admission, billOf, exited, iso, ran, repriced } from './given.ts'

const price = fc.integer({ min: 0, max: 999_999 }).map(units => (units / 10_000).toFixed(4))

/** Paused three times, while its price changes twice. */
const run = fc
  .record({
    gpus: fc.integer({ min: 1, max: 512 }),
    from: fc.integer({ min: 1_703_000_000_000, max: 1_830_000_000_000 }),
    spans: fc.array(fc.integer({ min: 1, max: 150_000_000 }), { minLength: 8, maxLength: 8 }),
    prices: fc.tuple(price, price, price),
    changes: fc.tuple(
      fc.integer({ min: 1, max: 400_000_000 }),
      fc.integer({ min: 1, max: 400_000_000 }),
    ),
  })
  .map(({ gpus, from, spans, prices, changes }) => {
    const marks = spans.map((_, nth) => from + spans.slice(0, nth + 1).reduce((a, b) => a + b))
    const attempts = [0, 2, 4, 6].map(nth => [iso(marks[nth] ?? 0), iso(marks[nth + 1] ?? 0)])
    const [first, second = 0] = [...changes].sort((a, b) => a - b).map(at => from + at)
    const since = [0, first ?? 0, second === first ? second + 1 : second].map(iso)
    return { gpus, attempts, prices: since.map((at, nth) => [at, prices[nth] ?? '0']) }
  })

test('10,000 runs with three pauses and two changes of the price cost the same in an independent calculator, to the millionth', t => {
  const asked = fc.sample(run, { numRuns: 10_000, seed: 20_261_122 })
  const input = asked.map(one => JSON.stringify(one)).join('\n')
  const calculator = join(import.meta.dirname, 'invoice.py')
  const { stdout, stderr } = spawnSync('python3', [calculator], {
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  t.is(stderr, '')
  const mine = asked.map(({ gpus, attempts, prices: [first, ...later] }) => {
    const bill = billOf([
      admission(gpus, first?.[1] ?? '0'),
      ...later.map(([at = '', text = '']) => repriced(text, at)),
      ...attempts.flatMap(([start = '', end = ''], nth) => [
        ran(nth + 1, start),
        exited(nth + 1, end),
      ]),
    ])
    const { gpu_ms, cost_micro } = sumOf(bill)
    return `${gpu_ms} ${cost_micro}`
  })
  const theirs = stdout.trimEnd().split('\n')
  t.is(theirs.length, asked.length)
  const differing = mine.flatMap((bill, nth) =>
    bill === theirs[nth] ? [] : [`${bill} is ${theirs[nth]}`],
  )
  t.deepEqual(differing.slice(0, 5), [])
})
