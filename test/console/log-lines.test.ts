import test from 'ava'
import fc from 'fast-check'
import { cellsOf } from '../../clients/columns.ts'
import { needsColumns, piecesOf } from '../../clients/console/src/pages/run/logs/ansi.ts'
import { contrast, inkOf } from '../../clients/console/src/pages/run/logs/ink.ts'
import { levelOf } from '../../clients/console/src/pages/run/logs/level.ts'
import { linksIn, partsOf } from '../../clients/console/src/pages/run/logs/parts.ts'
import { plain } from '../../clients/console/src/pages/run/logs/style.ts'

const esc = '\u001b'
const textOf = (line: string) =>
  piecesOf(line, cellsOf)
    .map(({ text }) => text)
    .join('')
/** The one style of a line. */
const styleOf = (codes: string) => {
  const { at: _at, text: _text, ...style } = piecesOf(`${esc}[${codes}mx`)[0] ?? { at: 0, text: '' }
  return style
}

test('a line is shown the way a terminal shows it', t => {
  t.deepEqual(piecesOf(`a ${esc}[1;31mred${esc}[0m b`), [
    { ...plain, at: 0, text: 'a ' },
    { ...plain, at: 2, text: 'red', colour: 'red', isBold: true },
    { ...plain, at: 5, text: ' b' },
  ])
  t.is(textOf('10%|#\r50%|##\r100%|####'), '100%|####')
  t.is(textOf('long before\rab'), 'abng before')
  t.is(textOf('done\r'), 'done')
  t.is(textOf('训练 ok\rab'), 'ab练 ok', 'a wide character takes two columns')
  t.is(textOf('训练 ok\ra'), 'a 练 ok', 'half of one is a blank')
  t.is(textOf('abc\r🚀'), '🚀c')
  t.is(textOf('e\u0301bc\rx'), 'xbc', 'an accent takes no cell')
})

test('the columns of characters matter only where some beyond ASCII are overwritten', t => {
  t.true(needsColumns('训练 ok\rab'))
  t.false(needsColumns('训练 ok\r\r'))
  t.false(needsColumns('10%\r20%'))
  t.is(piecesOf('10%\r20%\r3')[0]?.text, '30%')
})

test('styled text is overwritten and erased like plain text', t => {
  t.is(textOf(`${esc}[32m 50%${esc}[0m\r${esc}[32m100%${esc}[0m`), '100%')
  t.is(textOf(`long before\r${esc}[31mab${esc}[0m`), 'abng before')
  t.is(textOf(`long before\r${esc}[Kab`), 'ab')
  t.is(textOf(`long before\r${esc}[2Kab`), 'ab')
  t.is(textOf(`100% done${esc}[0m\r${esc}[0m`), '100% done')
  t.is(textOf(`100% done\r${esc}[2K`), '100% done', 'what nothing replaces stays')
  t.is(piecesOf(`${esc}[31m${'1%\r'.repeat(50)}end`)[0]?.colour, 'red')
})

test('every code of a style has its effect, and its reset ends it', t => {
  const pairs = [
    ['1', '22', 'isBold', true],
    ['2', '22', 'isFaint', true],
    ['3', '23', 'isItalic', true],
    ['4', '24', 'isUnderlined', true],
    ['21', '24', 'isUnderlined', true],
    ['4:3', '4:0', 'isUnderlined', true],
    ['7', '27', 'isReversed', true],
    ['9', '29', 'isStruck', true],
    ['35', '39', 'colour', 'magenta'],
    ['95', '39', 'colour', 'magenta'],
    ['42', '49', 'ground', 'green'],
    ['102', '49', 'ground', 'green'],
    ['38;5;9', '39', 'colour', 'red'],
    ['38;5;208', '39', 'colour', '#ff8700'],
    ['38:5:208', '39', 'colour', '#ff8700'],
    ['48;5;232', '49', 'ground', '#080808'],
    ['38;2;1;2;255', '39', 'colour', '#0102ff'],
    ['38:2:1:2:255', '39', 'colour', '#0102ff'],
    ['38:2::1:2:255', '39', 'colour', '#0102ff'],
    ['48;2;1;2;255', '49', 'ground', '#0102ff'],
  ] as const
  for (const [set, reset, field, value] of pairs) {
    t.deepEqual(styleOf(set), { ...plain, [field]: value }, set)
    t.deepEqual(styleOf(`${set};${reset}`), plain, `${set};${reset}`)
    t.deepEqual(styleOf(`${set};0`), plain, `${set};0`)
    t.deepEqual(styleOf(`1;${set}`), { ...plain, isBold: true, [field]: value }, `1;${set}`)
  }
  t.deepEqual(styleOf('58;5;1;4'), { ...plain, isUnderlined: true }, 'the colour of an underline')
  t.deepEqual(styleOf(''), plain)
  for (const broken of [
    '38',
    '38;5',
    '38;5;256',
    '38;2;1;2',
    '38;2;1;2;999',
    '38:5',
    '999',
    ';;',
    '8',
  ])
    t.deepEqual(styleOf(broken), plain, broken)
})

test('hostile and broken sequences never hide text, and nothing acts on the page', t => {
  t.is(textOf(`${esc}]8;;https://evil.example\u0007link${esc}]8;;\u0007`), 'link')
  t.is(textOf(`a${esc}]0;never closed`), 'a]0;never closed')
  t.is(textOf(`${esc}]secret\u0007 shown`), ']secret␇ shown')
  t.is(textOf(`a${esc}[2Jb${esc}[10;10Hc${esc}c`), 'abc')
  t.is(textOf('admin\u202etxt\u2066.\u061cexe'), 'admin⟨202e⟩txt⟨2066⟩.⟨61c⟩exe')
  t.is(textOf('a\u0000b\u0008c\td'), 'a␀b␈c    d')
  t.is(textOf(`${esc}[38;5m${esc}[38;2;1mx${esc}[999;;;m`), 'x')
  t.is(textOf(`x${esc}[`), 'x[')
  t.is(textOf(`${esc}   Error`), '   Error')
  t.is(textOf(`${esc}PError`), 'PError')
  t.is(textOf(`${esc}[8mconcealed`), 'concealed')
  t.is(textOf(`${esc}[31${'训练'}`), '[31训练')
})

test('no text is lost, whatever stands around it', t => {
  const noise = fc.array(
    fc.oneof(
      fc.constantFrom(esc, `${esc}[`, `${esc}]`, ';', ':', '[', ']', 'm', '8', '38', '\u0007', '0'),
      fc.string({ maxLength: 3 }),
    ),
    { maxLength: 12 },
  )
  const isKept = fc.property(noise, before =>
    textOf(`${before.join('').replaceAll('\r', '')} ${esc}[0m ⚑word⚑`).includes('⚑word⚑'),
  )
  t.notThrows(() => fc.assert(isKept))
})

test('every colour can be read on its ground, in light and in dark', t => {
  const valuesOf = (text = '') => text.match(/#[0-9a-f]{6}/g) ?? []
  const style = fc.record({
    colour: fc.constantFrom(
      null,
      'black',
      'white',
      'blue',
      '#000000',
      '#ffffff',
      '#16191d',
      '#777777',
    ),
    ground: fc.constantFrom(null, 'black', 'white', 'yellow', '#ffffff', '#000000', '#808080'),
    isReversed: fc.boolean(),
    isFaint: fc.boolean(),
  })
  const isReadable = fc.property(style, some => {
    const ink = inkOf({ ...plain, ...some } as typeof plain)
    if (ink.color === undefined) return ink.background === undefined
    const grounds = ink.background ? valuesOf(ink.background) : ['#ffffff', '#16191d']
    return valuesOf(ink.color).every((colour, nth) => contrast(colour, grounds[nth] ?? '') >= 4.5)
  })
  t.notThrows(() => fc.assert(isReadable))
  t.deepEqual(inkOf({ ...plain, colour: 'red' }), { name: 'red' })
  t.is(
    inkOf({ ...plain, colour: '#ff8700', ground: '#000000' }).color,
    'light-dark(#ff8700, #ff8700)',
  )
})

test('web addresses become links, and nothing else does', t => {
  const found = (text: string) =>
    linksIn(text).map(({ from, to, href }) => [text.slice(from, to), href])
  const same = (text: string) => [[text, text]]
  t.deepEqual(found('see https://a.example/b?c=1#d, then'), same('https://a.example/b?c=1#d'))
  t.deepEqual(found('(https://a.example/x_(y))'), same('https://a.example/x_(y)'))
  t.deepEqual(found('[http://127.0.0.1:8080/].'), same('http://127.0.0.1:8080/'))
  t.deepEqual(found('https://a.example/1 https://a.example/2').length, 2)
  for (const text of [
    'javascript:alert(1)',
    'file:///etc/passwd',
    'data:text/html,x',
    'https://bank.example@evil.example/',
    'https://',
    'http://[',
    'xhttps://a.example/',
    `https://a.example/${'x'.repeat(3000)}`,
  ])
    t.deepEqual(found(text), [], text)
  t.deepEqual(found('https://a.example/⟨202e⟩gpj'), same('https://a.example/'))
})

test('a line is cut where a style, a link or a hit begins and ends', t => {
  const line = `${esc}[31mloss at https://a.${esc}[0mexample/loss`
  const parts = partsOf(piecesOf(line), 'loss')
  t.deepEqual(
    parts.map(({ text, colour, href, isFound }) => [text, colour, href !== null, isFound]),
    [
      ['loss', 'red', false, true],
      [' at ', 'red', false, false],
      ['https://a.', 'red', true, false],
      ['example/', null, true, false],
      ['loss', null, true, true],
    ],
  )
  t.is(new Set(parts.map(({ at }) => at)).size, parts.length)
  t.is(partsOf(piecesOf('plain'), '').length, 1)
})

test('the level of a line is what its logger wrote', t => {
  const cases = {
    error: [
      '2026-11-27 12:00:00,000 [ERROR] trainer: no data',
      'ERROR:root:no data',
      '{"time": 1, "level": "error", "msg": "x"}',
      'ts=1 level=fatal msg=x',
      'E1127 12:00:00.000000 1 file.cc:1] x',
      'Traceback (most recent call last):',
      'torch.OutOfMemoryError: CUDA out of memory',
      'KeyboardInterrupt',
      'error: unknown option',
      'main.c:1:2: error: expected ;',
      'RuntimeError: x',
    ],
    warning: [
      'WARNING:root:slow',
      '[rank0] W1127 x WARN slow',
      'W1127 12:00:00.000000 1 file.cc:1] x',
      'train.py:7: UserWarning: deprecated',
      'level=warn msg="error in x"',
    ],
    debug: ['DEBUG x', '{"level":"trace"}'],
    null: [
      'step 10 loss 0.5',
      'INFO 0 errors, ERROR rate 0',
      'eval/error 0.02',
      'the error was small',
      'errors: 0',
      'I1127 12:00:00.000000 1 file.cc:1] x',
      '',
    ],
  }
  for (const [level, lines] of Object.entries(cases))
    for (const line of lines) t.is(String(levelOf(line)), level, line)
})
