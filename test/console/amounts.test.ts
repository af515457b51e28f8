import test from 'ava'
import { isLanguage } from '../../clients/console/src/design/locale.ts'
import { axisNumber, lengthOf, shortNumber } from '../../clients/console/src/words/amounts.ts'

test('labels of an axis differ from each other, however small the numbers', t => {
  const labels = (from: number, increment: number) =>
    [0, 1, 2, 3].map(n => axisNumber(from + n * increment, increment))
  t.deepEqual(labels(0, 0.00001), ['0', '1e-5', '2e-5', '3e-5'])
  t.deepEqual(labels(0, 0.0002), ['0', '0.0002', '0.0004', '0.0006'])
  t.deepEqual(labels(0.9995, 0.00025), ['0.9995', '0.99975', '1', '1.00025'])
  t.deepEqual(labels(-1, 0.5), ['-1', '-0.5', '0', '0.5'])
  t.deepEqual(labels(0, 250), ['0', '250', '500', '750'])
  t.deepEqual(labels(3e8, 1e6), ['3e+8', '3.01e+8', '3.02e+8', '3.03e+8'])
  // Adding up tenths leaves a remainder where zero is meant.
  t.is(axisNumber(0.1 + 0.2 - 0.3, 0.1), '0')
})

test('numbers and lengths are short', t => {
  t.deepEqual(
    [0.4, 1 / 3, 3e-4, 1.25e-7, 0, -12, 1e9].map(value => shortNumber(value)),
    ['0.4', '0.333333', '0.0003', '1.25e-7', '0', '-12', '1e+9'],
  )
  t.deepEqual([0, 12, 200, 7500].map(lengthOf), ['0 s', '12 s', '3 min 20 s', '2 h 5 min'])
})

test('a language that Intl refuses is ignored', t => {
  t.deepEqual(['en-US', 'de', 'en-US@posix', '', undefined].map(isLanguage), [
    true,
    true,
    false,
    false,
    false,
  ])
})
