import test from 'ava'
import fc from 'fast-check'
import { recordMetrics } from '../../command-api/metrics/record.ts'
import { parseMetricBlock } from '../../schemas/metrics/block.ts'
import type { MetricsInput } from '../../schemas/metrics/metrics.ts'
import { Invalid } from '../../schemas/validate.ts'
import { metricBlock, type Table } from './metric-block.ts'

const receivedAtMs = 1_790_000_000_123
const loss: Table = { keys: ['loss'], rows: [{ step: 1, ts: 1000, values: [0.5] }] }

const table: fc.Arbitrary<Table> = fc
  .uniqueArray(fc.constantFrom('loss', 'acc', '損失'), { minLength: 1 })
  .chain(keys =>
    fc.record({
      keys: fc.constant(keys),
      rows: fc.array(
        fc.record({
          step: fc.integer({ min: -5, max: 5 }),
          ts: fc.integer({ min: 0, max: 4_000_000_000_000 }),
          values: fc.array(fc.double(), { minLength: keys.length, maxLength: keys.length }),
        }),
        { minLength: 1, maxLength: 5 },
      ),
    }),
  )

const asJson = (tables: readonly Table[]): MetricsInput => ({
  run_id: 'run_01',
  points: tables.flatMap(({ keys, rows }) =>
    rows.flatMap(({ step, ts, values }) =>
      keys.map((key, index) => ({
        key,
        step,
        ts: new Date(ts).toISOString(),
        value: toJson(values[index] ?? 0),
      })),
    ),
  ),
})

const toJson = (value: number) =>
  Number.isFinite(value) ? value : (String(value) as 'NaN' | 'Infinity' | '-Infinity')

test('a block and the same points as JSON become the same fact', t => {
  fc.assert(
    fc.property(fc.array(table, { maxLength: 4 }), tables => {
      const block = recordMetrics(parseMetricBlock(metricBlock('run_01', tables)), receivedAtMs)
      t.deepEqual(block, recordMetrics(asJson(tables), receivedAtMs))
    }),
  )
})

test('the attempt comes from the head', t => {
  const body = parseMetricBlock(metricBlock('run_01', [loss], { attempt: 2 }))
  t.is(recordMetrics(body, receivedAtMs).fact.attempt, 2)
})

const good = metricBlock('run_01', [loss])
const withRow = (row: Partial<Table['rows'][number]>) =>
  metricBlock('run_01', [{ keys: ['loss'], rows: [{ step: 1, ts: 1000, values: [0.5], ...row }] }])
const many = { step: 1, ts: 1, values: [1] }

const refused: [what: string, bytes: Buffer, fault: string][] = [
  ['nothing', Buffer.alloc(0), 'body: value_error'],
  ['JSON', Buffer.from('{"run_id":"run_01","points":[]}'), 'body: value_error'],
  ['a block that ends within its head', good.subarray(0, 20), 'body: value_error'],
  ['a block that is cut off', good.subarray(0, -1), 'body: value_error'],
  ['bytes after the last value', Buffer.concat([good, Buffer.alloc(8)]), 'body: value_error'],
  ['a head that is not JSON', Buffer.from(`FMB1\x02\0\0\0{]`), 'body: json_invalid'],
  [
    'a head that is not UTF-8',
    Buffer.from('FMB1\x09\0\0\0{"a":"\xe9"}', 'latin1'),
    'body: value_error',
  ],
  ['no run', metricBlock(undefined, []), 'body.run_id: missing'],
  [
    'an empty key',
    metricBlock('r', [{ ...loss, keys: [''] }]),
    'body.tables.0.keys.0: string_too_short',
  ],
  [
    'half a character',
    metricBlock('r', [{ ...loss, keys: ['\ud800'] }]),
    'body.tables.0.keys: value_error',
  ],
  [
    'a table without rows',
    metricBlock('r', [{ ...loss, rows: [] }]),
    'body.tables.0.rows: greater_than_equal',
  ],
  ['a step that is not whole', withRow({ step: 1.5 }), 'body.tables.0.0.step: int_type'],
  ['a step beyond 2**53', withRow({ step: 2 ** 53 }), 'body.tables.0.0.step: int_type'],
  ['a step that is not a number', withRow({ step: Number.NaN }), 'body.tables.0.0.step: int_type'],
  [
    'a time that is not a number',
    withRow({ ts: Number.NaN }),
    'body.tables.0.0.ts: datetime_parsing',
  ],
  [
    'a time after the year 9999',
    withRow({ ts: 253_402_300_800_000 }),
    'body.tables.0.0.ts: datetime_parsing',
  ],
  [
    '10,001 points',
    metricBlock('r', [loss, { keys: ['loss'], rows: Array(10_000).fill(many) }]),
    'body.tables: too_long',
  ],
]
for (const [what, bytes, fault] of refused)
  test(`${what}: refused`, t => {
    const error = t.throws(() => parseMetricBlock(bytes), { instanceOf: Invalid })
    t.is(error?.errors.map(({ loc, type }) => `${loc.join('.')}: ${type}`).join(), fault)
  })

test('10,000 points are accepted', t => {
  const block = metricBlock('r', [{ keys: ['loss'], rows: Array(10_000).fill(many) }])
  t.is(parseMetricBlock(block).keys.length, 10_000)
})

test('any bytes are either a block or refused', t => {
  const damaged = fc.tuple(fc.nat(good.length - 1), fc.nat(255)).map(([at, byte]) => {
    const bytes = Buffer.from(good)
    bytes[at] = byte
    return bytes
  })
  const outcomes = { taken: 0, refused: 0 }
  fc.assert(
    fc.property(damaged, bytes => {
      try {
        // A block with one changed number is still a valid block; no damage adds points to it.
        t.is(parseMetricBlock(bytes).values.length, 1)
        outcomes.taken++
      } catch (error) {
        if (!(error instanceof Invalid)) throw error
        t.true(error.errors.length > 0)
        outcomes.refused++
      }
    }),
    { numRuns: 2000, seed: 1 },
  )
  t.true(outcomes.taken > 100 && outcomes.refused > 100, JSON.stringify(outcomes))
})
