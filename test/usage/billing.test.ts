import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import fc from 'fast-check'
import {
  billLinesOf,
  centsText,
  type Entry,
  hoursText,
  intervalsOf,
  type Line,
  moneyText,
  nearest,
  openLinesOf,
  sumOf,
  toMicro,
  unmetered,
  whenSpent,
} from '../../events/calculations/billing.ts'
import type { JobEvent } from '../../events/jobs.ts'
import {
  admission,
  billOf,
  exited,
  history,
  iso,
  ledgerOf,
  ran,
  repriced,
  shuffled,
} from './given.ts'

const dayMs = 86_400_000
/** `npm run bench:billing` requests more. */
const runs = { numRuns: Number(process.env.FORGE_TEST_BILLING_CASES ?? 1000) }
/** Much faster than the comparison of the test runner, which explains differences; fast-check shows the case. */
const equal = isDeepStrictEqual

const brief = (lines: readonly Line[]) =>
  lines.map(({ starts_at, ends_at, gpu_ms, cost_micro }) => [
    `${starts_at.slice(0, 19)} to ${ends_at.slice(0, 19)}`,
    Number(gpu_ms) / 1000,
    moneyText(cost_micro),
  ])

test('time before the code reports `running` costs nothing, nor does an attempt that never reports it', t => {
  const began = [admission(8, '2.00'), exited(1, '2026-11-20T10:00:00.000Z')]
  t.deepEqual(billOf(began), [])
  t.deepEqual(brief(billOf([...began, ran(2, '2026-11-20T11:00:00.000Z')])), [])
})

test('a pause costs nothing: each attempt is billed from its start to the release of its GPUs', t => {
  const events = [
    admission(2, '3.60'),
    ran(1, '2026-11-20T10:00:00.000Z'),
    exited(1, '2026-11-20T10:10:00.000Z'),
    ran(2, '2026-11-20T18:00:00.000Z'),
    exited(2, '2026-11-20T18:00:00.500Z'),
  ]
  t.deepEqual(brief(billOf(events)), [
    ['2026-11-20T10:00:00 to 2026-11-20T10:10:00', 1200, '1.20'],
    ['2026-11-20T18:00:00 to 2026-11-20T18:00:00', 1, '0.001'],
  ])
})

const splits: [what: string, start: string, end: string, days: string[]][] = [
  [
    'midnight',
    '2026-11-20T23:59:59.999Z',
    '2026-11-21T00:00:00.001Z',
    ['2026-11-20', '2026-11-21'],
  ],
  ['exactly a day', '2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z', ['2026-11-20']],
  [
    'a leap day',
    '2024-02-28T12:00:00.000Z',
    '2024-03-01T12:00:00.000Z',
    ['2024-02-28', '2024-02-29', '2024-03-01'],
  ],
  [
    'no leap day',
    '2025-02-28T12:00:00.000Z',
    '2025-03-01T12:00:00.000Z',
    ['2025-02-28', '2025-03-01'],
  ],
  [
    'the end of a year',
    '2026-12-31T23:00:00.000Z',
    '2027-01-01T01:00:00.000Z',
    ['2026-12-31', '2027-01-01'],
  ],
  [
    'a leap second, which the clock repeats',
    '2016-12-31T23:59:59.000Z',
    '2017-01-01T00:00:01.000Z',
    ['2016-12-31', '2017-01-01'],
  ],
]
for (const [what, start, end, days] of splits)
  test(`a bill is split at midnight UTC: ${what}`, t => {
    const lines = billOf([admission(1, '1.00'), ran(1, start), exited(1, end)])
    t.deepEqual(
      lines.map(line => line.day),
      days,
    )
    t.is(sumOf(lines).gpu_ms, BigInt(Date.parse(end) - Date.parse(start)))
  })

test('a new price applies from its time on, to the millisecond', t => {
  const events = [
    admission(1, '3.60'),
    ran(1, '2026-11-20T10:00:00.000Z'),
    repriced('7.20', '2026-11-20T10:00:10.000Z'),
    exited(1, '2026-11-20T10:00:20.000Z'),
  ]
  t.deepEqual(brief(billOf(events)), [
    ['2026-11-20T10:00:00 to 2026-11-20T10:00:10', 10, '0.01'],
    ['2026-11-20T10:00:10 to 2026-11-20T10:00:20', 10, '0.02'],
  ])
})

test('late information cancels lines and adds new ones; no line is changed', t => {
  const events = [
    admission(1, '3.60'),
    ran(1, '2026-11-20T10:00:00.000Z'),
    exited(1, '2026-11-20T10:00:20.000Z'),
  ]
  const before = ledgerOf(events).entries
  const { entries } = ledgerOf([...events, repriced('7.20', '2026-11-20T10:00:10.000Z')])
  t.deepEqual(entries.slice(0, before.length), before)
  t.deepEqual(
    entries.map(({ sign, gpu_ms, cost_micro }) => [sign, Number(gpu_ms), Number(cost_micro)]),
    [
      [1, 20_000, 20_000],
      [-1, -20_000, -20_000],
      [1, 10_000, 10_000],
      [1, 10_000, 20_000],
    ],
  )
  const again = ledgerOf([...events, exited(1, '2026-11-20T10:00:30.000Z')])
  t.is(sumOf(again.entries).gpu_ms, 30_000n, 'it was seen alive later than its loss said')
})

test('an attempt that still holds GPUs is charged up to now, and is not in the ledger', t => {
  const { metered, entries } = ledgerOf([admission(4, '9.00'), ran(1, '2026-11-20T23:00:00.000Z')])
  t.deepEqual(entries, [])
  t.deepEqual(brief(openLinesOf(metered, new Date('2026-11-21T00:30:00.000Z'))), [
    ['2026-11-20T23:00:00 to 2026-11-21T00:00:00', 14_400, '36.00'],
    ['2026-11-21T00:00:00 to 2026-11-21T00:30:00', 7200, '18.00'],
  ])
  t.deepEqual(openLinesOf(metered, new Date('2026-11-20T22:00:00.000Z')), [])
})

test('halves are rounded to the even neighbour, once a line', t => {
  t.deepEqual(
    [1n, 3n, 5n, 7n, -1n, -3n].map(half => nearest(half, 2n)),
    [0n, 2n, 2n, 4n, 0n, -2n],
  )
  t.deepEqual([nearest(4n, 3n), nearest(5n, 3n)], [1n, 2n])
  // A millisecond at 1.80 costs half a millionth.
  const twice = [ran(1, iso(0)), exited(1, iso(1)), ran(2, iso(5)), exited(2, iso(6))]
  t.is(sumOf(billOf([admission(1, '1.80'), ...twice])).cost_micro, 0n)
  t.is(sumOf(billOf([admission(3, '1.80'), ...twice])).cost_micro, 4n)
})

test('amounts are written without floating point', t => {
  t.deepEqual(['0', '12', '3.6', '0.0001', '99999999.9999'].map(toMicro), [
    0n,
    12_000_000n,
    3_600_000n,
    100n,
    99_999_999_999_900n,
  ])
  t.deepEqual([0n, 33_200_000n, 33_201_000n, -1n, 10n ** 22n].map(moneyText), [
    '0.00',
    '33.20',
    '33.201',
    '-0.000001',
    '10000000000000000.00',
  ])
  t.is(centsText(33_205_000n), '33.20')
  t.is(hoursText(5_400_000n), '1.50')
  t.is(hoursText(5_400_000n, 1), '1.5')
})

test('the end of a budget is the first millisecond at which it is spent, across price changes', t => {
  fc.assert(
    fc.property(history, fc.bigInt({ min: 0n, max: 10n ** 13n }), ({ events, from }, budget) => {
      const { metered } = ledgerOf(events)
      const end = whenSpent(metered, iso(from), budget)
      if (end === Number.POSITIVE_INFINITY || end - from > 400 * dayMs) return
      const spentBy = (ms: number) => {
        const attempts = [{ attempt: 1, started_at: iso(from), ended_at: iso(ms) }]
        return sumOf(billLinesOf({ ...metered, attempts }))
      }
      // Each line is rounded by at most half a millionth.
      const slack = BigInt(Math.ceil((end - from) / dayMs) + 6)
      t.true(spentBy(end).cost_micro >= budget - slack)
      if (end > from) t.true(spentBy(end - 1).cost_micro <= budget + slack)
    }),
    { numRuns: 500 },
  )
  t.is(whenSpent({ ...unmetered, gpus: 1 }, iso(0), 1n), Number.POSITIVE_INFINITY)
})

function faultsOf(lines: readonly Line[]): string[] {
  const sorted = lines.toSorted((a, b) => (a.starts_at < b.starts_at ? -1 : 1))
  return sorted.flatMap((line, index) => {
    const next = sorted[index + 1]
    const faults: [fault: string, is: boolean][] = [
      ['it is empty or negative', line.starts_at >= line.ends_at],
      ['it has a negative amount', line.gpu_ms < 0n || line.cost_micro < 0n],
      ['it overlaps the next', next !== undefined && line.ends_at > next.starts_at],
      ['it is of another day', line.day !== line.starts_at.slice(0, 10)],
      ['it reaches into the next day', Date.parse(line.ends_at) > Date.parse(line.day) + dayMs],
    ]
    return faults.flatMap(([fault, is]) => (is ? `${line.starts_at}: ${fault}` : []))
  })
}

test('whatever the order and repetition of events: no overlap, nothing negative, and the parts add up to the whole', t => {
  fc.assert(
    fc.property(history, ({ gpus, events }) => {
      const { metered } = ledgerOf(events)
      const lines = billOf(events)
      t.is(faultsOf(lines).join('; '), '')
      const held = intervalsOf(metered, null).reduce((sum, { from, to }) => sum + to - from, 0)
      t.is(sumOf(lines).gpu_ms, BigInt(gpus) * BigInt(held))
      const days = Map.groupBy(lines, line => line.day)
      t.is(
        [...days.values()].reduce((sum, some) => sum + sumOf(some).cost_micro, 0n),
        sumOf(lines).cost_micro,
      )
    }),
    runs,
  )
})

test('any order of events, with repetitions, leads to the same bill, and a replay to the same ledger', t => {
  const told = history.chain(({ events }) =>
    fc.tuple(fc.constant(events), shuffled(events), shuffled(events)),
  )
  fc.assert(
    fc.property(told, ([events, one, other]) => {
      const expected = billOf(events)
      for (const order of [one, other]) {
        const { entries } = ledgerOf(order)
        t.true(equal(billOf(order), expected), 'the bill')
        t.true(equal(sumOf(entries), sumOf(expected)), 'the sum of the ledger')
        t.true(equal(ledgerOf(order).entries, entries), 'a replay')
        t.true(entries.every(isSound))
      }
      t.true(
        equal(ledgerOf([...one, ...events]).entries, ledgerOf(one).entries),
        'known facts add nothing',
      )
    }),
    runs,
  )
})

const isSound = ({ sign, gpu_ms, cost_micro }: Entry) =>
  sign === 1 ? gpu_ms >= 0n && cost_micro >= 0n : gpu_ms <= 0n && cost_micro <= 0n

test('runs together never use more GPUs than exist', t => {
  const capacity = 16
  const wish = fc.record({
    gpus: fc.integer({ min: 1, max: capacity }),
    wait: fc.integer({ min: 0, max: 40_000_000 }),
    length: fc.integer({ min: 0, max: 90_000_000 }),
    launch: fc.integer({ min: 0, max: 1_000_000 }),
  })
  fc.assert(
    fc.property(fc.array(wish, { maxLength: 30 }), wishes => {
      const lines = placed(wishes, capacity).flatMap(billOf)
      for (const [day, some] of Map.groupBy(lines, line => line.day))
        t.true(sumOf(some).gpu_ms <= BigInt(capacity * dayMs), day)
    }),
    runs,
  )
})

type Wish = { gpus: number; wait: number; length: number; launch: number }

/** Starts each as soon as enough GPUs are free; waiting and starting jobs pay nothing. */
function placed(wishes: readonly Wish[], capacity: number): JobEvent[][] {
  let now = Date.parse('2026-11-20')
  let held: { gpus: number; until: number }[] = []
  return wishes.map(({ gpus, wait, length, launch }) => {
    now += wait
    const free = () => capacity - held.reduce((sum, one) => sum + one.gpus, 0)
    held = held.filter(({ until }) => until > now)
    while (free() < gpus) {
      now = Math.min(...held.map(({ until }) => until))
      held = held.filter(({ until }) => until > now)
    }
    const [from, until] = [now + launch, now + launch + length]
    held.push({ gpus, until })
    return [admission(gpus, '1.00'), ran(1, iso(from)), exited(1, iso(until))]
  })
}
