import test from 'ava'
import { DistinctRows, TextHash } from '../../datasets/distinct.ts'
import { Offsets } from '../../datasets/offsets.ts'
import { splitOf } from '../../datasets/splits.ts'
import { seededRandom } from '../../events/calculations/queue-forecast.ts'
import { patient } from '../servers/patience.ts'
import { lines, memoryFile, validated } from './memory-file.ts'
import { mutated } from './mutated.ts'

const asked = (content: string) => [
  { role: 'user', content },
  { role: 'assistant', content: 'Yes.' },
]

test('a dataset is summed up by its splits, fields, lengths, duplicates and overlaps', async t => {
  const train = [1, 2, 3, 3, 3].map(at => ({ id: at, messages: asked(`Is ${at}?`), score: at / 2 }))
  const more = [
    { id: null, messages: asked('Is 3?') },
    { id: 9, messages: asked('Is 9?') },
  ]
  const files = [
    memoryFile('train-00000-of-00002.jsonl', lines(...train)),
    memoryFile('train-00001-of-00002.jsonl', lines({ messages: asked('Is it long? '.repeat(20)) })),
    memoryFile('test/part-0.jsonl', lines(...more).replaceAll('\n', '\r\n')),
  ]
  const { files: read, ...report } = await validated(files)
  t.deepEqual(report, {
    format: 'jsonl',
    kind: 'chat',
    rows: 8,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    splits: {
      train: { rows: 6, bytes: (files[0]?.size ?? 0) + (files[1]?.size ?? 0) },
      test: { rows: 2, bytes: files[2]?.size ?? 0 },
    },
    schema: { id: 'integer|null', messages: 'list', score: 'integer|number' },
    lengths: {
      min: 9,
      mean: (7 * 9 + 244) / 8,
      max: 244,
      buckets: [
        { below: 16, rows: 7 },
        { below: 32, rows: 0 },
        { below: 64, rows: 0 },
        { below: 128, rows: 0 },
        { below: 256, rows: 1 },
      ],
    },
    duplicates: 3,
    overlap: [{ splits: ['train', 'test'], rows: 1 }],
    estimated: false,
    tokens: {},
    errors: [],
    error_count: 0,
  })
  t.deepEqual(
    read.map(({ name, rows }) => [name, rows]),
    [
      ['train-00000-of-00002.jsonl', 5],
      ['train-00001-of-00002.jsonl', 1],
      ['test/part-0.jsonl', 2],
    ],
  )
})

test('BOM, blanks around a row, and a missing last line break are no faults', async t => {
  const jsonl = memoryFile('a.jsonl', '\ufeff {"text": "größer"} \r\n{"text": "last"}')
  t.like(await validated([jsonl]), { rows: 2, error_count: 0, schema: { text: 'string' } })
  const csv = memoryFile('a.csv', '\ufefftext,id\r\n"one, ""two""\nthree",1\r\nlast,2')
  t.like(await validated([csv]), { rows: 2, error_count: 0, kind: 'text', lengths: { max: 16 } })
})

test('every kind is recognised, with tools, parts and conversations as answers', async t => {
  const calls = [{ id: 'a', type: 'function', function: { name: 'add', arguments: { a: 1 } } }]
  const tool = [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Add.' },
        { type: 'image_url', image_url: {} },
      ],
    },
    { role: 'assistant', content: null, tool_calls: calls },
    { role: 'tool', content: '2', tool_call_id: 'a' },
    { role: 'assistant', content: 'Two.' },
  ]
  const rows: [string, object][] = [
    ['chat', { messages: tool, tools: [{ type: 'function' }] }],
    ['preference', { prompt: 'x', chosen: 'a', rejected: 'b' }],
    ['preference', { chosen: tool, rejected: asked('x') }],
    ['prompt', { prompt: asked('x').slice(0, 1), answer: 4 }],
    ['text', { text: 'x' }],
  ]
  for (const [kind, row] of rows)
    t.like(await validated([memoryFile('a.jsonl', lines(row))]), { kind, error_count: 0, rows: 1 })
  const cells = [JSON.stringify(tool).replaceAll('"', '""'), 'x'].map(cell => `"${cell}"`)
  const csv = memoryFile('a.csv', `messages,note\n${cells.join(',')}\n`)
  t.like(await validated([csv]), { kind: 'chat', error_count: 0, rows: 1 })
})

test('the split of a file comes from its name, or from its folder', t => {
  const names = {
    'train.jsonl': 'train',
    'data/validation-00001-of-00002.parquet': 'validation',
    'test/part-0.jsonl': 'test',
    'my_dev_set.csv': 'validation',
    'eval/train/part.csv': 'train',
    'latest.jsonl': 'train',
    'contest.csv': 'train',
  }
  for (const [name, split] of Object.entries(names)) t.is(splitOf(name), split, name)
})

test('more rows than can be remembered are estimated', t => {
  t.timeout(patient(120_000))
  const rows = new DistinctRows()
  const hash = new TextHash()
  const add = (text: string, split: number) => {
    hash.start()
    hash.add(text)
    hash.end()
    rows.add(hash.low, hash.high, split)
  }
  const different = 4_000_000
  for (let at = 0; at < different; at++) add(`row ${at}`, 0)
  t.true(rows.isEstimated)
  t.is(rows.duplicates(), 0)
  for (let at = 0; at < different; at += 4) add(`row ${at}`, 1)
  const wanted = different / 4
  t.true(Math.abs(rows.duplicates() - wanted) < wanted * 0.01, String(rows.duplicates()))
  t.true(Math.abs(rows.shared(0, 1) - wanted) < wanted * 0.01, String(rows.shared(0, 1)))
})

test('the index of a file stays bounded', t => {
  const index = new Offsets()
  for (let row = 0; row < 25_000_000; row++) index.row(row * 10)
  t.is(index.every, 4_000)
  t.is(index.offsets.length, 6_250)
  t.true(index.offsets.every((offset, at) => offset === at * index.every * 10))
})

test('files with random changes are read to their end, whatever they hold', async t => {
  t.timeout(patient(60_000))
  const random = seededRandom(3)
  const rows = Array.from({ length: 20 }, (_, at) => ({
    text: `größer ${at} "x"`,
    at,
    more: { a: [at] },
  }))
  const jsonl = Buffer.from(lines(...rows))
  const csv = Buffer.from(`text,at\n${rows.map(({ at }) => `"a ""${at}"", b",${at}\n`).join('')}`)
  const until = Date.now() + 5_000
  let faulty = 0
  let cases = 0
  for (; Date.now() < until; cases++)
    for (const [name, bytes] of [
      ['a.jsonl', jsonl],
      ['a.csv', csv],
    ] as const) {
      const changed = mutated(bytes, random)
      const { errors, error_count: count } = await validated([memoryFile(name, changed, 100)])
      const last = changed.toString('latin1').split('\n').length
      t.true(errors.every(({ line, message }) => line >= 1 && line <= last && message !== ''))
      if (count > 0) faulty++
    }
  t.true(cases > 50)
  t.true(faulty > cases / 2)
})
