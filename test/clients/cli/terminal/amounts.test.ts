import test from 'ava'
import {
  amount,
  counted,
  duration,
  instantMs,
  size,
  toNumber,
} from '../../../../clients/cli/terminal/amounts.ts'
import { waitText } from '../../../../clients/cli/terminal/waits.ts'

test('durations have the precision that a person needs', t => {
  const seconds = [0, 0.44, 9.96, 59.4, 59.6, 185, 7800, 86_399, 273_600]
  t.deepEqual(seconds.map(duration), [
    '0.0 s',
    '0.4 s',
    '10 s',
    '59 s',
    '1 m 00 s',
    '3 m 05 s',
    '2 h 10 m',
    '1 d 0 h',
    '3 d 4 h',
  ])
})

test('numbers keep four digits, and non-finite values have names', t => {
  const values = [0, 12, 0.123456, 1234.567, 0.0000123, 123456789, Number.NaN, -Infinity]
  t.deepEqual(
    values.map(value => amount(value)),
    ['0', '12', '0.1235', '1235', '1.23e-5', '1.23e8', 'NaN', '-∞'],
  )
  t.true(Number.isNaN(toNumber('NaN')))
  t.is(toNumber('-Infinity'), Number.NEGATIVE_INFINITY)
})

test('a count of one is in the singular', t => {
  t.deepEqual(
    [0, 1, 2].map(count => counted(count, 'GPU')),
    ['0 GPUs', '1 GPU', '2 GPUs'],
  )
})

test('sizes have decimal units', t => {
  t.deepEqual([0, 999, 12_345, 16_381_923_328].map(size), ['0 B', '999 B', '12.3 kB', '16.4 GB'])
})

test('an instant is shown as an age or as a time', t => {
  t.is(instantMs('90s', 100_000), 10_000)
  t.is(instantMs('2h', 7_200_000), 0)
  t.is(instantMs('2026-11-20T19:00:00+01:00', 0), Date.UTC(2026, 10, 20, 18))
  t.is(instantMs('yesterday', 0), null)
})

test('a wait reads like an estimate by a person', t => {
  const waits: [p50: number, p90: number][] = [
    [0, 0],
    [0, 2],
    [0.3, 0.6],
    [3, 3],
    [12, 95],
  ]
  t.deepEqual(
    waits.map(([p50, p90]) => waitText({ p50, p90 })),
    ['at once', 'within 2 s', 'within 1 s', 'in 3 s', 'in 12 s to 1 m 35 s'],
  )
})
