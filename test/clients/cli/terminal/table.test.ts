import test from 'ava'
import stringWidth from 'string-width'
import { artifactColumns } from '../../../../clients/cli/artifacts/artifacts.ts'
import { type Column, table } from '../../../../clients/cli/terminal/table.ts'
import { oneLine, truncate, wrapped } from '../../../../clients/cli/terminal/width.ts'
import type { Artifact } from '../../../../schemas/artifacts/artifacts.ts'

type Row = { id: string; name: string; count: number }
const columns: Column<Row>[] = [
  { title: 'ID', cell: row => row.id },
  { title: 'NAME', cell: row => row.name, shrinks: true },
  { title: 'COUNT', cell: row => String(row.count), align: 'right' },
]
const rows: Row[] = [
  { id: 'a-1', name: 'digits on a small network with a long name', count: 3 },
  { id: 'a-20', name: '手写数字', count: 4000 },
]

test('columns line up, wide characters counted as two', t => {
  const lines = table(columns, rows, { width: null })
  t.deepEqual(
    lines.map(line => stringWidth(line)),
    [55, 55, 55],
  )
  t.is(lines[2]?.indexOf('手写数字'), 6)
})

test('on a narrow terminal only shrinkable columns are cut', t => {
  const lines = table(columns, rows, { width: 30 })
  t.true(lines.every(line => stringWidth(line) <= 30))
  t.true(lines[1]?.startsWith('a-1   digits'))
  t.true(lines[1]?.includes('…'))
  t.true(lines[2]?.endsWith('4000'))
})

test('if that is still too wide, optional columns are dropped, the last one first', t => {
  const droppable: Column<Row>[] = [
    ...columns,
    { title: 'FIRST', cell: () => '123456', drops: true },
    { title: 'SECOND', cell: () => '123456', drops: true },
  ]
  t.regex(table(droppable, rows, { width: 40 })[0] ?? '', /FIRST +SECOND$/)
  t.regex(table(droppable, rows, { width: 30 })[0] ?? '', /COUNT +FIRST$/)
  t.regex(table(droppable, rows, { width: 20 })[0] ?? '', /COUNT$/)
})

test('colours do not disturb the alignment', t => {
  const painted = table(
    columns.map(column => ({ ...column, paint: (text: string) => `\u001b[31m${text}\u001b[39m` })),
    rows,
    { width: 40 },
  )
  const plain = table(columns, rows, { width: 40 })
  t.deepEqual(
    painted.map(text => stringWidth(text)),
    plain.map(text => stringWidth(text)),
  )
})

test('text is cut between characters, never inside one', t => {
  t.is(truncate('手写数字', 5), '手写…')
  t.is(truncate('abc', 3), 'abc')
  t.is(truncate('👩‍👩‍👧 family', 4), '👩‍👩‍👧 …')
  t.is(truncate('abc', 0), '')
})

test('a line redrawn by carriage returns shows as it ended, and control characters are gone', t => {
  t.is(oneLine(' 10%\r 50%\r100%\r'), '100%')
  t.is(oneLine('\u001b[31mred\u001b[0m\tand\u0007 bell\u001b]0;title\u0007'), 'red    and bell')
})

test('long lines break between words, and an address stays whole', t => {
  const line = '  ! the queue is long, see http://localhost:8080/runs/run_1 for more'
  t.deepEqual(wrapped(line, 24, '    '), [
    '  ! the queue is long,',
    '    see',
    '    http://localhost:8080/runs/run_1',
    '    for more',
  ])
  t.deepEqual(wrapped(line, null, '    '), [line])
  t.deepEqual(wrapped('✓ quota  fits  well', 19), ['✓ quota  fits  well'])
})

test('artifacts fit a terminal of 80 columns, without their paths if necessary', t => {
  const artifact = {
    ...{ artifact_id: 'art_01M89088RZF07FT24E5DM2A58V', run_id: 'run_1', kind: 'checkpoint' },
    ...{ step: 150, size_bytes: 355_000, status: 'registered', is_best: false, is_latest: true },
    ...{ protected_by: [], path: '/data/runs/run_1/1/work/model-150.json' },
  } as unknown as Artifact
  const [titles = '', row = ''] = table(artifactColumns, [artifact], { width: 80 })
  t.true(titles.length <= 80 && row.length <= 80, row)
  t.regex(titles, /SIZE +STATUS$/)
  t.regex(table(artifactColumns, [artifact], { width: 140 })[1] ?? '', /model-150\.json$/)
})
