import { isUtf8 } from 'node:buffer'
import { Type } from 'typebox'
import type { ValidationError } from '../shared.ts'
import { checker, Invalid } from '../validate.ts'
import { type MetricsInput, metricKey, reportHead } from './metrics.ts'

/**
 * The binary form of a report of metric points, which the Python client sends: `POST /api/ingest/metrics` with this
 * content type. All numbers are little-endian.
 *
 * - 4 bytes `FMB1`
 * - 4 bytes: length of the head, unsigned
 * - the head, UTF-8 JSON: `run_id`, optionally `attempt`, and `tables`, each with its `keys` and number of `rows`
 * - for each table, as 64-bit floats: the step of each row, its time in milliseconds since the epoch, and the values,
 *   row by row, in the order of the keys
 *
 * NaN and infinities are values like others. If a step of a key is repeated, the last one wins, as in JSON.
 */
export const metricBlockType = 'application/vnd.forge.metric-block'

const magic = 'FMB1'
const prefixBytes = 8
const floatBytes = 8
const maxPoints = 10_000
/** Years 1 to 9999, as in texts. */
const [firstMs, lastMs] = [-62_135_596_800_000, 253_402_300_799_999]

const head = Type.Object({
  ...reportHead,
  tables: Type.Array(
    Type.Object({
      keys: Type.Array(metricKey(), { minItems: 1, maxItems: maxPoints }),
      rows: Type.Integer({ minimum: 1, maximum: maxPoints }),
    }),
    { maxItems: maxPoints },
  ),
})
const checkHead = checker(head, 'body')

/** Points in columns: `keys[i]` is the key of point i; `ts` in epoch milliseconds. */
export type MetricBlock = Pick<MetricsInput, 'run_id' | 'attempt'> & {
  keys: readonly string[]
  steps: Float64Array
  ts: Float64Array
  values: Float64Array
}

/** Throws `Invalid` for bytes of any other form. */
export function parseMetricBlock(bytes: Buffer): MetricBlock {
  const { tables, floatsAt, ...report } = readHead(bytes)
  const points = tables.reduce((sum, { keys, rows }) => sum + keys.length * rows, 0)
  if (points > maxPoints)
    throw fault(['tables'], `${points} points; at most ${maxPoints} are allowed`, 'too_long')
  const floats = tables.reduce((sum, { keys, rows }) => sum + rows * (2 + keys.length), 0)
  const expected = floatsAt + floats * floatBytes
  if (bytes.length !== expected)
    throw fault(
      [],
      `The block has ${bytes.length} bytes; its head announces ${expected}`,
      'value_error',
    )
  // Copied, because floats are aligned to their size. Every processor that Node runs on is little-endian.
  const all = new Float64Array(bytes.buffer.slice(...spanOf(bytes, floatsAt)))
  return { ...report, ...inColumns(tables, all, points) }
}

const spanOf = ({ byteOffset, length }: Buffer, from: number) =>
  [byteOffset + from, byteOffset + length] as const

function readHead(bytes: Buffer) {
  if (bytes.length < prefixBytes || bytes.toString('latin1', 0, 4) !== magic)
    throw fault(
      [],
      `The body is not a metric block: it does not begin with ${magic}`,
      'value_error',
    )
  const floatsAt = prefixBytes + bytes.readUInt32LE(4)
  if (floatsAt > bytes.length) throw fault([], 'The block ends within its head', 'value_error')
  const headBytes = bytes.subarray(prefixBytes, floatsAt)
  // As in JSON bodies: decoding would silently replace invalid bytes.
  if (!isUtf8(headBytes)) throw fault([], 'The head of the block is not valid UTF-8', 'value_error')
  const checked = checkHead(parseJson(headBytes.toString('utf8')))
  if (!checked.ok) throw new Invalid(checked.errors)
  const { run_id, attempt, tables } = checked.value
  // As in JSON bodies: half a pair of surrogates cannot be stored.
  const torn = tables.findIndex(({ keys }) => !keys.every(key => key.isWellFormed()))
  if (torn >= 0) throw fault(['tables', torn, 'keys'], 'A key is not valid Unicode', 'value_error')
  return { run_id, ...(attempt !== undefined && { attempt }), tables, floatsAt }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw fault(
      [],
      `The head of the block is not JSON: ${(error as Error).message}`,
      'json_invalid',
    )
  }
}

type Table = { keys: string[]; rows: number }

function inColumns(tables: readonly Table[], all: Float64Array, points: number) {
  const keys: string[] = []
  const [steps, ts, values] = [0, 1, 2].map(() => new Float64Array(points)) as Columns
  let [at, point] = [0, 0]
  for (const [index, table] of tables.entries()) {
    const valuesAt = at + 2 * table.rows
    for (let row = 0; row < table.rows; row++) {
      const step = all[at + row] as number
      const ms = all[at + table.rows + row] as number
      checkRow(step, ms, ['tables', index, row])
      const width = table.keys.length
      const from = valuesAt + row * width
      steps.fill(step, point, point + width)
      ts.fill(ms, point, point + width)
      values.set(all.subarray(from, from + width), point)
      for (const key of table.keys) keys.push(key)
      point += width
    }
    at = valuesAt + table.rows * table.keys.length
  }
  return { keys, steps, ts, values }
}

function checkRow(step: number, ms: number, at: readonly (string | number)[]): void {
  if (!Number.isSafeInteger(step))
    throw fault([...at, 'step'], `${step} is not a whole number within 2**53 of 0`, 'int_type')
  if (!Number.isInteger(ms) || ms < firstMs || ms > lastMs)
    throw fault(
      [...at, 'ts'],
      `${ms} is not a time in milliseconds since the epoch`,
      'datetime_parsing',
    )
}

type Columns = [Float64Array, Float64Array, Float64Array]

const fault = (loc: readonly (string | number)[], msg: string, type: ValidationError['type']) =>
  new Invalid([{ loc: ['body', ...loc], msg, type }])
