import test from 'ava'
import { csvCell, csvLine } from '../../schemas/csv.ts'

test('texts that a spreadsheet would run as a formula are made inert', t => {
  for (const text of ['=1+1', '+1', '-0.5', '@SUM(A1)', '\tx', '＝1+1', '－1'])
    t.is(csvCell(text), `'${text}`)
  t.is(csvCell('\r=1'), `"'\r=1"`)
  t.is(csvCell('=HYPERLINK("x", 1)'), `"'=HYPERLINK(""x"", 1)"`)
})

test('numbers and other texts pass unchanged', t => {
  t.is(csvLine([-0.5, 1e-7, -Infinity, 'a-b', '', 'x=1']), '-0.5,1e-7,-Infinity,a-b,,x=1')
})
