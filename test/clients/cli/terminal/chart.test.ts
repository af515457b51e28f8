import test from 'ava'
import stringWidth from 'string-width'
import { lineChart, sparkline } from '../../../../clients/cli/terminal/chart.ts'
import type { Point } from '../../../../clients/cli/terminal/series.ts'

const descent: Point[] = Array.from({ length: 50 }, (_, step) => [step, 1 / (step + 1)])

test('a chart shows its extremes and its first and last step, and fits its size', t => {
  const lines = lineChart(descent, { width: 40, height: 9 })
  t.is(lines.length, 9)
  t.true(lines.every(line => stringWidth(line) <= 40))
  t.regex(lines[0] ?? '', /^ +1 ┤/)
  t.regex(lines[6] ?? '', /^ *0\.02 ┤/)
  t.regex(lines[8] ?? '', /^ +0 +step +49$/)
})

test('a falling line begins at the top left and ends at the bottom right', t => {
  const lines = lineChart(descent, { width: 40, height: 9 }).slice(0, 7)
  const canvas = lines.map(line => line.slice(line.search(/[┤│]/) + 1))
  t.regex(canvas[0] ?? '', /^[⠀-⣿]/)
  t.true((canvas[6] ?? '').trimEnd().length > 25)
  t.regex(canvas[1] ?? '', /^[⠀-⣿ ]{1,4}\s*$/)
})

test('every extreme is drawn even where a thousand points share a column', t => {
  const flat: Point[] = Array.from({ length: 20_000 }, (_, step) => [step, step === 7777 ? 9 : 1])
  const lines = lineChart(flat, { width: 40, height: 8 })
  t.regex(lines[0] ?? '', /^9 ┤ +[⠀-⣿]+ +$/)
})

test('a non-finite value breaks the line and is marked on the axis', t => {
  const broken: Point[] = [
    [0, 1],
    [50, Number.NaN],
    [100, 2],
  ]
  const lines = lineChart(broken, { width: 30, height: 8 })
  const axis = lines[6] ?? ''
  t.is([...axis].filter(character => character === '×').length, 1)
  const drawn = lines
    .slice(0, 6)
    .join('')
    .replaceAll(/[^⠀-⣿]/g, '')
  t.is(drawn.length, 2, 'two points and nothing between them')
})

test('charts of nothing, of one point, of one value and of infinities are drawn', t => {
  t.true(lineChart([], { width: 30, height: 6 }).at(-1)?.includes('no points yet'))
  t.true(
    lineChart([[3, 0.5]], { width: 30, height: 6 })
      .at(-1)
      ?.includes('step 3'),
  )
  const flat: Point[] = [
    [0, 0.5],
    [9, 0.5],
  ]
  t.true(lineChart(flat, { width: 30, height: 7 }).some(line => line.startsWith('0.5 ┤')))
  const infinite: Point[] = [
    [0, Number.POSITIVE_INFINITY],
    [1, Number.NEGATIVE_INFINITY],
  ]
  t.is(lineChart(infinite, { width: 30, height: 6 }).length, 6)
})

test('a logarithmic chart spreads small values out', t => {
  const powers: Point[] = [
    [0, 1],
    [1, 0.1],
    [2, 0.01],
  ]
  const middle = (log: boolean) =>
    lineChart(powers, { width: 30, height: 9, log })
      .slice(0, 7)
      .findLastIndex(line => /[⠀-⣿]/.test(line.slice(15, 20)))
  t.true(middle(true) < middle(false))
})

test('a sparkline shows a trend in the given width, and × for non-finite values', t => {
  t.is(sparkline(descent.slice(0, 4), 10).length, 4)
  const bars = sparkline(descent, 10)
  t.is(bars.length, 10)
  t.is(bars[0], '█')
  t.is(bars.at(-1), '▁')
  t.is(sparkline([[0, Number.NaN]], 10), '×')
  t.is(sparkline([[0, 2]], 10), '▄')
})
