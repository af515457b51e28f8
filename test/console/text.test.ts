import test from 'ava'
import { csvOf } from '../../clients/console/src/pages/admin/csv.ts'
import {
  chunksFor as logChunks,
  sizeOf,
  windowFor,
  windowLines,
} from '../../clients/console/src/pages/run/logs/window.ts'
import { diffOf } from '../../clients/console/src/pages/run/samples/diff.ts'

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
