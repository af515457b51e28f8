import test from 'ava'
import fc from 'fast-check'
import {
  byteaArray,
  float8Array,
  int4Array,
  int8Array,
  textArray,
} from '../../../platform/postgres/arrays.ts'
import { database } from '../../servers/postgres.ts'

const text = fc.string({ unit: 'grapheme' }).map(value => value.replaceAll('\0', ''))

test('arrays arrive in PostgreSQL unchanged', async t => {
  const { pool } = await database(t)
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
      fc.array(fc.maxSafeInteger()),
      fc.array(fc.double()),
      fc.array(text),
      fc.array(fc.uint8Array({ maxLength: 20 }).map(bytes => Buffer.from(bytes))),
      async (int4, int8, float8, texts, byteas) => {
        const { rows } = await pool.query({
          name: 'arrays',
          text: `select $1::int4[] as int4, $2::int8[] as int8, $3::float8[] as float8, $4::text[] as texts,
                        $5::bytea[] as byteas`,
          values: [
            int4Array(int4),
            int8Array(int8),
            float8Array(float8),
            textArray(texts),
            byteaArray(byteas),
          ],
        })
        t.deepEqual(rows[0], { int4, int8, float8, texts, byteas })
      },
    ),
    { numRuns: 50 },
  )
})

test('only the requested number of elements is sent', async t => {
  const { pool } = await database(t)
  const { rows } = await pool.query('select $1::int8[] as ints, $2::float8[] as floats', [
    int8Array(Float64Array.of(1, 2, 3), 2),
    float8Array([0.5, 0.25], 0),
  ])
  t.deepEqual(rows, [{ ints: [1, 2], floats: [] }])
})
