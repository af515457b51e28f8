import { readdirSync, readFileSync } from 'node:fs'
import test from 'ava'
import { decodeBlock } from '../../../platform/series/block.ts'
import { decodeCells, decodeExtremes } from '../../../platform/series/cells.ts'
import { decodeChunk, type Series } from '../../../platform/series/chunk.ts'
import { fromJsonNumber, type JsonNumber } from '../../../platform/series/json-number.ts'
import { decodeNumberedBlock } from '../../../platform/series/numbered-block.ts'
import { createPoints } from '../../../platform/series/points.ts'

// Bytes written by released versions. They are on disks and must stay readable forever, so files are added here
// but never changed.
const folder = new URL('../../golden/series/', import.meta.url)

type Columns = { steps: number[]; ts: number[]; values: (JsonNumber | '-0')[]; arrivals?: number[] }
type Golden = {
  codec: string
  hex: string
  keys?: (string | number)[]
  counts?: number[]
} & Columns

const plain = (column: ArrayLike<number>) => Array.from(column)

const columnsOf = (series: Series) => ({
  arrivals: plain(series.arrivals),
  steps: plain(series.steps),
  ts: plain(series.ts),
  values: plain(series.values),
})

const decoders: Record<string, (bytes: Buffer) => object> = {
  block(bytes) {
    const into = createPoints()
    const { keys, counts } = decodeBlock(bytes, into)
    const column = (values: Float64Array) => plain(values.subarray(0, into.length))
    return {
      keys,
      counts,
      steps: column(into.steps),
      ts: column(into.ts),
      values: column(into.values),
    }
  },
  'numbered-block'(bytes) {
    const { keys, counts, points } = decodeNumberedBlock(bytes)
    return { keys, counts, ...columnsOf(points) }
  },
  chunk: bytes => columnsOf(decodeChunk(bytes)),
  cells(bytes) {
    const { counts, means, stepOffsets, tsOffsets, ...rest } = decodeCells(bytes)
    return {
      ...rest,
      counts: Array.from(counts),
      steps: Array.from(stepOffsets),
      ts: Array.from(tsOffsets),
      values: Array.from(means),
    }
  },
  extremes(bytes) {
    const { mins, maxs } = decodeExtremes(bytes)
    return { values: [...mins, ...maxs] }
  },
}

const files = readdirSync(folder)

test('every codec has golden files', t => {
  for (const codec of Object.keys(decoders))
    t.true(
      files.some(file => file.startsWith(`${codec}-v1-`)),
      codec,
    )
})

for (const file of files)
  test(`${file} is read unchanged`, t => {
    const golden: Golden = JSON.parse(readFileSync(new URL(file, folder), 'utf8'))
    const { codec, hex, values, ...rest } = golden
    const decoded = decoders[codec]?.(Buffer.from(hex, 'hex'))
    t.deepEqual(decoded, {
      ...rest,
      values: values.map(value => (value === '-0' ? -0 : fromJsonNumber(value))),
    })
  })
