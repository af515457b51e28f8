import { Readable } from 'node:stream'
import test from 'ava'
import { readRowsInThread, searchRowsInThread, validateInThread } from '../../datasets/in-thread.ts'
import type { DatasetFile, Progress } from '../../datasets/report.ts'
import { lines, memoryFile, validated } from './memory-file.ts'

const options = { kind: null, tokenizer: null }
const never = () => new AbortController().signal
const rows = Array.from({ length: 60_000 }, (_, at) => ({ text: `row ${at} ${'x'.repeat(300)}` }))
const file = memoryFile('train.jsonl', lines(...rows), 65_536)

test('a thread reports the same as a validation in this one, and its progress', async t => {
  const progress: Progress[] = []
  const running = { signal: never(), progress: (made: Progress) => progress.push(made) }
  const report = await validateInThread([file], options, running)
  t.deepEqual(report, await validated([file]))
  t.true(progress.length >= 2)
  t.true(progress.every(({ bytes, of }) => bytes <= of && of === file.size))
  const index = report.files[0]?.index
  if (!index) return t.fail()
  const page = { from: 59_998, limit: 5, signal: never() }
  t.deepEqual(await readRowsInThread(file, index, page), {
    rows: [59_998, 59_999].map(row => ({ row, value: rows[row] ?? {} })),
    next: null,
  })
  const search = { text: 'ROW 4321 ', from: 4_000, limit: 1, scanBytes: 1e9, signal: never() }
  const { rows: found } = await searchRowsInThread(file, index, search)
  t.deepEqual(
    found.map(({ row }) => row),
    [4_321],
  )
})

test('an abort ends a validation and closes its files', async t => {
  const controller = new AbortController()
  const stream = new Readable({ read: () => undefined })
  const endless: DatasetFile = {
    ...file,
    open: async () => {
      queueMicrotask(() => controller.abort(new Error('enough')))
      return stream
    },
  }
  const running = { signal: controller.signal, progress: () => undefined }
  await t.throwsAsync(validateInThread([endless], options, running), { message: 'enough' })
  t.true(stream.destroyed)
})

test('the error of an unreadable file is thrown unchanged', async t => {
  const failure = new Error('the store is down')
  const broken: DatasetFile = { ...file, open: () => Promise.reject(failure) }
  const torn: DatasetFile = {
    ...file,
    open: async () =>
      Readable.from(
        (function* () {
          yield Buffer.from('{"text": "x"}\n')
          throw failure
        })(),
        { objectMode: false },
      ),
  }
  const running = { signal: never(), progress: () => undefined }
  for (const one of [broken, torn])
    t.is(await t.throwsAsync(validateInThread([one], options, running)), failure)
})
