import test from 'ava'
import fc from 'fast-check'
import { isPlainMetricsInput, metricsInput } from '../../schemas/metrics/metrics.ts'
import { checker } from '../../schemas/validate.ts'

const check = checker(metricsInput, 'body')
const point = { key: 'loss', step: 1, value: 0.5, ts: '2026-11-20T19:26:53+00:00' }
const body = (points: unknown, more: object = {}) => ({ run_id: 'run_01', points, ...more })

/** `where: type` of each refused field. */
function faults(value: unknown): string[] {
  const checked = check(value)
  return checked.ok ? [] : checked.errors.map(({ loc, type }) => `${loc.join('.')}: ${type}`)
}

const accepted: [string, unknown][] = [
  ['a full point', body([point])],
  ['a point without a time', body([{ key: 'loss', step: 1, value: 0.5 }])],
  ['no points', body([])],
  ['an attempt', body([point], { attempt: 3 })],
  ['the words for non-finite values', body(['NaN', 'Infinity', '-Infinity'].map(withValue))],
  ['the largest steps', body([2 ** 53 - 1, -(2 ** 53) + 1].map(withStep))],
  ['a key of 250 characters beyond the BMP', body([{ ...point, key: '🙂'.repeat(250) }])],
  ['a field it does not know', body([{ ...point, wall_time: 3 }])],
  ['10,000 points', body(Array.from({ length: 10_000 }, () => point))],
]
for (const [what, value] of accepted)
  test(`${what}: accepted`, t => {
    t.deepEqual(faults(value), [])
  })

const refused: [string, unknown, string[]][] = [
  ['no run', { points: [] }, ['body.run_id: missing']],
  ['no points', { run_id: 'run_01' }, ['body.points: missing']],
  ['points that are not a list', body({}), ['body.points: list_type']],
  ['10,001 points', body(Array(10_001).fill(point)), ['body.points: too_long']],
  ['an empty key', body([{ ...point, key: '' }]), ['body.points.0.key: string_too_short']],
  [
    'a key of 251 characters',
    body([{ ...point, key: 'x'.repeat(251) }]),
    ['body.points.0.key: string_too_long'],
  ],
  [
    'a control character in a key',
    body([{ ...point, key: 'a\tb' }]),
    ['body.points.0.key: string_pattern_mismatch'],
  ],
  ['a step past 2^53', body([withStep(2 ** 53)]), ['body.points.0.step: less_than_equal']],
  ['a step below -2^53', body([withStep(-(2 ** 53))]), ['body.points.0.step: greater_than_equal']],
  ['half a step', body([withStep(0.5)]), ['body.points.0.step: int_type']],
  ['no step', body([withStep(null)]), ['body.points.0.step: int_type']],
  [
    'a time without an offset',
    body([{ ...point, ts: '2026-11-20T19:26:53' }]),
    ['body.points.0.ts: datetime_parsing'],
  ],
  ['a time that is a number', body([{ ...point, ts: 3 }]), ['body.points.0.ts: string_type']],
  ['attempt 0', body([point], { attempt: 0 }), ['body.attempt: greater_than_equal']],
]
for (const [what, value, wanted] of refused)
  test(`${what}: refused with its place`, t => {
    t.deepEqual(faults(value), wanted)
    t.false(isPlainMetricsInput(value))
  })

for (const value of ['nan', '1', true, null, [1], Number.POSITIVE_INFINITY])
  test(`the value ${String(value)} (${typeof value}): refused with its place`, t => {
    const found = faults(body([point, withValue(value)]))
    t.true(found.length > 0)
    t.true(found.every(fault => fault.startsWith('body.points.1.value: ')))
    t.false(isPlainMetricsInput(body([withValue(value)])))
  })

function withValue(value: unknown) {
  return { ...point, value }
}
function withStep(step: unknown) {
  return { ...point, step }
}

test('the quick check accepts an ordinary report without the schema', t => {
  t.true(isPlainMetricsInput(body([point, { key: 'val/acc', step: 2, value: 1 }])))
})

const odd = fc.oneof(
  fc.anything(),
  fc.constantFrom('NaN', 'loss', '', 1, 0.5, -0, 2 ** 53, point.ts, '2026-02-30T00:00:00Z', 'a\nb'),
  fc.string({ unit: 'binary', maxLength: 4 }),
)
const anyPoint = fc.record({ key: odd, step: odd, value: odd, ts: odd }, { requiredKeys: [] })
const nearlyPoint = fc
  .tuple(fc.constantFrom('key', 'step', 'value', 'ts', 'none'), odd)
  .map(([field, value]) => ({ ...point, [field]: value }))

test('the quick check never accepts a report that the schema refuses', t => {
  let taken = 0
  fc.assert(
    fc.property(
      fc.array(fc.oneof(anyPoint, nearlyPoint, fc.constant(point)), { maxLength: 3 }),
      points => {
        if (!isPlainMetricsInput(body(points))) return
        taken++
        t.deepEqual(faults(body(points)), [])
      },
    ),
    { numRuns: 1000 },
  )
  t.true(taken > 20, `only ${taken} were taken`)
})
