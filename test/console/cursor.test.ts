import test from 'ava'
import {
  idOf,
  keysOf,
  lineOf,
  moved,
  settled,
} from '../../clients/console/src/pages/runs/cursor.ts'
import type { RunRow } from '../../schemas/runs/records.ts'

/** A list in which `?` is a line still loading. */
const list = (text: string) => (line: number) => {
  const id = text[line] ?? '?'
  return id === '?' ? null : id
}

test('a mark stays on its run when others arrive above it or disappear', t => {
  const mark = { id: 'b', line: 1 }
  t.is(lineOf(mark, list('abc')), 1)
  t.is(lineOf(mark, list('xyabc')), 3)
  t.is(lineOf(mark, list('bc')), 0)
  t.is(lineOf(mark, list('ac')), null, 'never another run in its place')
  t.is(lineOf({ id: 'b', line: 3 }, list('?b?')), 1, 'found past lines on their way')
  t.deepEqual(settled(mark, list('xyabc')), { id: 'b', line: 3 })
  t.is(settled(mark, list('abc')), mark)
  t.is(settled(mark, list('ac')), mark, 'its place is kept as the start of the next move')
})

test('the run in a marked line is known as soon as it is read', t => {
  const mark = { id: null, line: 1 }
  t.is(lineOf(mark, list('a?')), 1)
  t.is(settled(mark, list('a?')), mark)
  t.deepEqual(settled(mark, list('ab')), { id: 'b', line: 1 })
})

test('moves start from the marked run, or from its last position', t => {
  const b = { id: 'b', line: 1 }
  t.deepEqual(moved(b, 1, 5, list('xyabc')), { id: 'c', line: 4 })
  t.deepEqual(moved(b, -1, 5, list('xyabc')), { id: 'a', line: 2 })
  t.deepEqual(moved(b, 1, 2, list('ac')), { id: 'c', line: 1 }, 'what took its place')
  t.deepEqual(moved(b, -1, 2, list('ac')), { id: 'a', line: 0 })
  t.deepEqual(moved({ id: 'c', line: 2 }, 1, 2, list('ab')), { id: 'b', line: 1 })
  t.deepEqual(moved({ id: 'a', line: 0 }, -1, 2, list('ab')), { id: 'a', line: 0 })
  t.deepEqual(moved(b, 1, 3, list('ab?')), { id: null, line: 2 })
  t.deepEqual(moved({ id: null, line: 0 }, 1, 0, list('')), { id: null, line: 0 })
})

test('lines are identified by their runs, even while one run is in two lines', t => {
  const run = { run_id: 'r-1' } as RunRow
  t.is(idOf({ kind: 'run', run }), 'r-1')
  t.is(idOf({ kind: 'run', run: undefined }), null)
  t.is(idOf({ kind: 'group', project: 'r-1', runs: 2, isOpen: true }), 'project r-1')
  t.deepEqual(keysOf(['a', null, 'a', 'b'], 7), ['a', 'line 8', 'line 9', 'b'])
})
