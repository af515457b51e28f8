import test from 'ava'
import { readRows, searchRows } from '../../datasets/rows.ts'
import { memoryFile, validated } from './memory-file.ts'

const count = 4_321
const texts = Array.from(
  { length: count },
  (_, at) => `row ${at}, ${at % 10 === 0 ? 'TEN größer' : 'x'}\n"y"`,
)
const files = {
  'a.jsonl': texts.map((text, id) => `${JSON.stringify({ id, text })}\r\n`).join(''),
  'a.csv': `id,text\n${texts.map((text, id) => `${id},"${text.replaceAll('"', '""')}"\n`).join('')}`,
}

for (const [name, content] of Object.entries(files)) {
  const file = memoryFile(name, content, 1_000)
  const rowOf = (id: number) => ({ id: name === 'a.csv' ? String(id) : id, text: texts[id] })
  const pageOf = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => ({ row: from + at, value: rowOf(from + at) }))

  test(`${name}: pages of rows together are the file`, async t => {
    const { files: read, error_count } = await validated([file])
    const index = read[0]?.index
    if (!index || index.format === 'parquet') return t.fail()
    t.is(error_count, 0)
    t.is(index.offsets.length, 5)
    for (const from of [0, 1, 999, 1_000, 1_001, 3_999, 4_300]) {
      const limit = 50
      const to = Math.min(from + limit, count)
      t.deepEqual(await readRows(file, index, { from, limit }), {
        rows: pageOf(from, to),
        next: to === count ? null : to,
      })
    }
    t.deepEqual(await readRows(file, index, { from: count, limit: 5 }), { rows: [], next: null })
  })

  test(`${name}: a search ignores case, and continues where it stopped`, async t => {
    const index = (await validated([file])).files[0]?.index
    if (!index) return t.fail()
    const found: number[] = []
    let from: number | null = 0
    let pages = 0
    for (; from !== null && pages < 100; pages++) {
      const search = { text: 'ten GRÖSSER'.replace('SS', 'ß'), from, limit: 40, scanBytes: 20_000 }
      const page = await searchRows(file, index, search)
      t.true(page.rows.length <= 40)
      found.push(...page.rows.map(({ row }) => row))
      from = page.next
    }
    t.deepEqual(
      found,
      Array.from({ length: 433 }, (_, at) => at * 10),
    )
    t.true(pages > 4)
  })
}

test('a page of long rows ends early', async t => {
  const content = Array.from({ length: 5 }, (_, at) => `{"text":"${at}${'x'.repeat(1_500_000)}"}\n`)
  const file = memoryFile('a.jsonl', content.join(''), 65_536)
  const index = (await validated([file])).files[0]?.index
  if (!index) return t.fail()
  const page = await readRows(file, index, { from: 1, limit: 5 })
  t.is(page.rows.length, 2)
  t.is(page.next, 3)
})
