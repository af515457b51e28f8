import test from 'ava'
import { brokenLines, brokenTables } from './broken-files.ts'
import { lines, memoryFile, validated } from './memory-file.ts'

for (const { title, name, content, line, says, kind = null } of [...brokenLines, ...brokenTables])
  test(`${name.split('.').at(-1)}: ${title} is named by its line`, async t => {
    const { errors, error_count } = await validated([memoryFile(name, content, 4096)], { kind })
    const [first] = errors
    t.is(first?.line, line, JSON.stringify(first))
    t.is(first?.file, name)
    t.regex(first?.message ?? '', says)
    t.is(error_count, errors.length)
  })

test('there are at least 60 broken files, and no two of them are alike', t => {
  const all = [...brokenLines, ...brokenTables]
  t.true(all.length >= 60)
  t.is(new Set(all.map(({ name, title }) => name + title)).size, all.length)
})

test('the first 1,000 errors are recorded, and all of them are counted', async t => {
  const wrong = memoryFile('train.jsonl', lines(...Array(2_500).fill({ text: 1 })), 65_536)
  const { errors, error_count: count, rows } = await validated([wrong], { kind: 'text' })
  t.is(errors.length, 1_000)
  t.is(count, 2_500)
  t.is(errors.at(-1)?.line, 1_000)
  t.is(rows, 0)
})

test('errors come in the order of files and lines', async t => {
  const files = ['b.csv', 'a.csv'].map(name =>
    memoryFile(name, Buffer.from('text,id\nx\ny,1\n\xe9,3\nz\n', 'latin1')),
  )
  const { errors } = await validated(files)
  t.deepEqual(
    errors.map(({ file, line }) => `${file}:${line}`),
    ['b.csv:2', 'b.csv:4', 'b.csv:5', 'a.csv:2', 'a.csv:4', 'a.csv:5'],
  )
})

test('files of two formats are refused', async t => {
  const files = [memoryFile('a.jsonl', lines({ text: 'x' })), memoryFile('b.csv', 'text\nx\n')]
  const { errors } = await validated(files)
  t.like(errors, [{ file: 'b.csv', line: 1 }])
  t.is(errors.length, 1)
})
