import test from 'ava'
import { chunkLines, cutLines, finishLine } from '../../projector/logs/lines.ts'

const cut = (text: string) => {
  const { lines, unfinished } = cutLines(Buffer.from(text))
  return [lines, unfinished.toString()]
}

test('bytes are split at line breaks, and an unfinished line is kept', t => {
  t.deepEqual(cut('one\ntwo\nthr'), [['one', 'two'], 'thr'])
  t.deepEqual(cut('one\r\n\r\ntwo\n'), [['one', '', 'two'], ''])
  t.deepEqual(cut(''), [[], ''])
})

test('only the last version of a progress bar is kept', t => {
  t.deepEqual(cut('  1%\r 50%\r100%\n'), [['100%'], ''])
  t.deepEqual(cut('  1%\r 50%\r 7'), [[], ' 7'])
  t.deepEqual(cut('  1%\r 50%\r'), [[], ' 50%\r'])
  t.deepEqual(finishLine(Buffer.from(' 50%\r')), [' 50%'])
})

test('a line past 64 KiB is cut between characters', t => {
  const long = '€'.repeat(30_000)
  const { lines, unfinished } = cutLines(Buffer.from(`${long}\n`))
  t.is(unfinished.length, 0)
  t.is(lines.join(''), long)
  t.true(lines.every(line => Buffer.byteLength(line) <= 64 * 1024))
  const waiting = cutLines(Buffer.from(long))
  t.is(waiting.lines.join('') + waiting.unfinished.toString(), long)
  t.true(waiting.unfinished.length <= 64 * 1024)
})

test('bytes that are not UTF-8 still make a line', t => {
  const { lines } = cutLines(Buffer.from([0x80, 0xff, 0x0a]))
  t.deepEqual(lines, ['\ufffd\ufffd'])
})

test('a reported chunk is one line or more, and its final line break does not start another', t => {
  t.deepEqual(chunkLines('one'), ['one'])
  t.deepEqual(chunkLines('one\n'), ['one'])
  t.deepEqual(chunkLines('one\ntwo\r\n'), ['one', 'two'])
  t.deepEqual(chunkLines(''), [''])
  t.deepEqual(chunkLines('\n'), [''])
})
