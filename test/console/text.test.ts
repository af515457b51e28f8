import test from 'ava'
import { csvOf } from '../../clients/console/src/pages/admin/csv.ts'
import { overwritten, piecesOf } from '../../clients/console/src/pages/run/logs/ansi.ts'
import {
  chunksFor as logChunks,
  sizeOf,
  windowFor,
  windowLines,
} from '../../clients/console/src/pages/run/logs/window.ts'
import { diffOf } from '../../clients/console/src/pages/run/samples/diff.ts'

const esc = '\u001b'
const shownLineOf = (line: string) =>
  piecesOf(line)
    .map(({ text }) => text)
    .join('')

test('a line is shown the way a terminal shows it', t => {
  t.like(piecesOf(`a ${esc}[1;31mred${esc}[0m b`), [
    { text: 'a ', colour: null },
    { text: 'red', colour: 'red', isBold: true },
    { text: ' b', colour: null, isBold: false },
  ])
  t.like(piecesOf(`${esc}[38;5;196mx${esc}[38;2;0;200;0my${esc}[92mz`), [
    { text: 'x', colour: 'red' },
    { text: 'y', colour: 'green' },
    { text: 'z', colour: 'green' },
  ])
  t.is(overwritten('10%|#\r50%|##\r100%|####'), '100%|####')
  t.is(overwritten('long before\rab'), 'abng before')
  t.is(overwritten('done\r'), 'done')
  t.is(overwritten('训练 ok\rab'), 'ab练 ok', 'a wide character takes two columns')
  t.is(overwritten('训练 ok\ra'), 'a 练 ok', 'half of one is a blank')
  t.is(overwritten('abc\r🚀'), '🚀c')
  t.is(overwritten('e\u0301bc\rx'), 'xbc', 'an accent takes no cell')
})

test('nothing in a line acts on the page, however it is written', t => {
  t.is(shownLineOf(`${esc}]8;;https://evil.example\u0007link${esc}]8;;\u0007`), 'link')
  t.is(shownLineOf(`${esc}]0;title never closed`), '')
  t.is(shownLineOf(`a${esc}[2Jb${esc}[10;10Hc${esc}c`), 'abc')
  t.is(shownLineOf('admin\u202etxt\u2066.\u061cexe'), 'admin⟨202e⟩txt⟨2066⟩.⟨61c⟩exe')
  t.is(shownLineOf('a\u0000b\u0008c\td'), 'a␀b␈c    d')
  t.is(shownLineOf(`${esc}[38;5m${esc}[38;2;1mx${esc}[999;;;m${esc}[`), 'x')
})

test('a log of any length is shown in windows, read in chunks', t => {
  t.is(windowFor(0, 10), 0)
  t.is(windowFor(windowLines + 1, 5 * windowLines), windowLines)
  t.is(windowFor(0, 2 * windowLines), windowLines)
  t.is(sizeOf(0, 10), 10)
  t.is(sizeOf(windowLines, windowLines + 7), 7)
  t.deepEqual(logChunks(0, 0, 30), [0])
  t.deepEqual(logChunks(windowLines, 150, 250), [windowLines, windowLines + 200])
})

test('changes of a text are shown word by word', t => {
  t.deepEqual(diffOf('a b c', 'a x c d'), [
    { kind: 'same', text: 'a ' },
    { kind: 'removed', text: 'b' },
    { kind: 'added', text: 'x' },
    { kind: 'same', text: ' c' },
    { kind: 'added', text: ' d' },
  ])
  t.deepEqual(diffOf('', ''), [])
  const long = 'word '.repeat(5_000)
  t.deepEqual(diffOf(long, long), [{ kind: 'same', text: long }])
  t.is(diffOf(long, `${long}x`).length, 2)
  const back = (kind: 'added' | 'removed', parts: ReturnType<typeof diffOf>) =>
    parts
      .filter(part => part.kind !== kind)
      .map(({ text }) => text)
      .join('')
  const [before, after] = ['the cat sat on the mat', 'a cat sat  on\nmats']
  t.is(back('added', diffOf(before, after)), before)
  t.is(back('removed', diffOf(before, after)), after)
})

test('an export of the audit opens in a spreadsheet as text', t => {
  const row = {
    position: 1,
    event_id: 'evt_1',
    type: 'user.created',
    target: { type: 'user', id: '=cmd|x' },
    actor: { type: 'user', id: 'ada', via: 'password' },
    at: '2026-11-23T09:00:00+00:00',
    occurred_at: '2026-11-23T09:00:00.000+00:00',
    request_id: 'r-1',
    causation_id: null,
    version: 1,
    summary: '=1+1, "quoted"',
    data: {},
  } as const
  const [head, line] = csvOf([row]).split('\r\n')
  t.is(head, 'occurred_at,type,summary,actor,via,target,request_id,event_id')
  t.is(
    line,
    `2026-11-23T09:00:00.000+00:00,user.created,"'=1+1, ""quoted""",user:ada,password,user:=cmd|x,r-1,evt_1`,
  )
})
