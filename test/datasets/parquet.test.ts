import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { readRows, searchRows } from '../../datasets/rows.ts'
import { seededRandom } from '../../events/calculations/queue-forecast.ts'
import { patient } from '../servers/patience.ts'
import { memoryFile, validated } from './memory-file.ts'
import { mutated } from './mutated.ts'
import { jsonIn, reference } from './python.ts'

const folder = await mkdtemp(join(tmpdir(), 'forge-parquet-'))
test.before(() => reference('parquet', folder))
test.after.always(() => rm(folder, { recursive: true }))

const bytesOf = (name: string) => readFile(join(folder, `${name}.parquet`))
const fileOf = async (name: string) => memoryFile(`${name}.parquet`, await bytesOf(name), 65_536)

const writings = ['plain', 'snappy', 'gzip', 'zstd', 'brotli', 'pages2', 'small-pages', 'delta']

for (const name of writings)
  test(`rows of a file are as pyarrow reads them: ${name}`, async t => {
    const wanted = await jsonIn(join(folder, `${name}.json`))
    const file = await fileOf(name)
    const report = await validated([file])
    t.deepEqual(report.errors, [])
    t.like(report, { format: 'parquet', kind: 'chat', rows: wanted.length })
    const index = report.files[0]?.index
    if (!index) return t.fail()
    const { rows, next } = await readRows(file, index, { from: 0, limit: wanted.length })
    t.is(next, rows.length === wanted.length ? null : rows.length)
    t.deepEqual(
      rows.map(({ value }) => value),
      wanted.slice(0, rows.length),
    )
    const from = Math.floor(wanted.length / 2)
    const page = await readRows(file, index, { from, limit: 3 })
    t.deepEqual(page, {
      rows: [0, 1, 2].map(at => ({ row: from + at, value: wanted[from + at] })),
      next: from + 3,
    })
  })

test('a search reads a bounded part of a file and returns where to continue', async t => {
  const file = await fileOf('zstd')
  const wanted: object[] = await jsonIn(join(folder, 'zstd.json'))
  const index = (await validated([file])).files[0]?.index
  if (!index) return t.fail()
  const found: number[] = []
  const pages: (number | null)[] = [0]
  while (typeof pages.at(-1) === 'number') {
    const search = {
      text: 'GRÖßER "QUOTED"',
      from: pages.at(-1) ?? 0,
      limit: 100,
      scanBytes: 300_000,
    }
    const page = await searchRows(file, index, search)
    found.push(...page.rows.map(({ row }) => row))
    pages.push(page.next)
  }
  t.true(pages.length > 5)
  t.true(found.length > 100)
  const texts = wanted.map(row => JSON.stringify(row))
  t.deepEqual(
    found,
    [...texts.keys()].filter(row => texts[row]?.includes('größer \\"quoted\\"')),
  )
})

test.serial(
  'changed bytes are refused or read, and never crash or take memory without bound',
  async t => {
    t.timeout(patient(120_000))
    const random = seededRandom(5)
    const before = process.memoryUsage.rss()
    const until = Date.now() + 8_000
    let cases = 0
    for (; Date.now() < until; cases++)
      for (const name of ['text', 'brotli', 'lz4']) {
        const bytes = mutated(await bytesOf(name), random)
        const { error_count: count, rows } = await validated([
          memoryFile('a.parquet', bytes, 65_536),
        ])
        t.true(count > 0 || rows > 0, name)
      }
    t.true(cases > 20)
    t.true(process.memoryUsage.rss() - before < 1e9)
  },
)

type Fault = [
  title: string,
  name: string,
  line: number,
  says: RegExp,
  change?: (bytes: Buffer) => Buffer,
]

const faults: readonly Fault[] = [
  ['an empty text', 'empty-text', 2, /text is empty/],
  ['a text that is null', 'null-text', 2, /text is null/],
  ['columns of no kind', 'no-kind', 1, /found words/],
  ['text that is a number', 'numbers', 1, /must be text, not a number/],
  ['no rows', 'no-rows', 1, /no rows/],
  ['a codec that is not read', 'lz4', 1, /compressed by LZ4/],
  ['text that is bytes', 'bytes', 1, /must be text, not an object/],
  ['text that is not UTF-8', 'not-utf8', 2, /not UTF-8/],
  ['a row group of 300 MB', 'large-group', 1, /at most 256 MB.*row_group_size/],
  ['a file that is cut off', 'text', 1, /cut off/, bytes => bytes.subarray(0, -20)],
  [
    'a file of something else',
    'text',
    1,
    /must begin with PAR1/,
    () => Buffer.from('{"text": "no"}\n'),
  ],
  ['a file of a few bytes', 'text', 1, /not a Parquet file/, () => Buffer.from('PAR1')],
  [
    'an encrypted file',
    'text',
    1,
    /encrypted/,
    bytes => Buffer.concat([bytes.subarray(0, -4), Buffer.from('PARE')]),
  ],
  [
    'a footer longer than the file',
    'text',
    1,
    /footer is longer/,
    (bytes: Buffer) => {
      const changed = Buffer.from(bytes)
      changed.writeUInt32LE(0x7fffffff, bytes.length - 8)
      return changed
    },
  ],
  [
    'a damaged footer',
    'text',
    1,
    /damaged/,
    (bytes: Buffer) => {
      const changed = Buffer.from(bytes)
      const footer = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8)
      changed.fill(0xff, footer, footer + 100)
      return changed
    },
  ],
]

for (const [title, name, line, says, change = (bytes: Buffer) => bytes] of faults)
  test(`${title} is named by its row`, async t => {
    const file = memoryFile('train.parquet', change(await bytesOf(name)), 65_536)
    const { errors } = await validated([file])
    t.like(errors[0], { file: 'train.parquet', line }, JSON.stringify(errors))
    t.regex(errors[0]?.message ?? '', says)
  })
