import test from 'ava'
import fc from 'fast-check'
import type { Fact } from '../../events/fact.ts'
import { encodeLogs, encodeLogsEof, type LogsAppended } from '../../events/logs.ts'
import { absorb, emptyLog, hourLimitBytes, type RunLog } from '../../projector/logs/run-log.ts'

const noon = Date.parse('2026-11-20T12:00:00Z')

const fact = (type: Fact['type'], body: Buffer, at = noon, attempt: number | null = 1): Fact => ({
  type,
  event_id: '01900000-0000-7000-8000-000000000000',
  received_at_ms: at,
  run_id: 'run_1',
  attempt,
  actor: { type: 'run', id: 'run_1', via: 'ingest_token' },
  request_id: 'r',
  body,
})
const place = { node: null, rank: null, stream: 'stdout' }
const report = (chunks: string[], seq: number | null = null, producer = ''): Fact =>
  fact('logs.appended', encodeLogs({ origin: 'report', ...place, producer, seq, chunks }))
const output = (
  offset: number,
  bytes: Buffer,
  more: Partial<LogsAppended> = {},
  attempt = 1,
): Fact =>
  fact(
    'logs.appended',
    encodeLogs({ origin: 'output', ...place, offset, bytes, ...more } as LogsAppended),
    noon,
    attempt,
  )
const eof = (state: string) => fact('logs.eof', encodeLogsEof({ state }))

const after = (...facts: Fact[]): RunLog => {
  const log = emptyLog()
  for (const one of facts) absorb(log, one)
  return log
}
const linesOf = (log: RunLog) => log.added.flatMap(segment => segment.lines)

test('reported chunks become lines numbered from 1', t => {
  const log = after(report(['a', 'b\nc\n']), report(['d']))
  t.deepEqual(linesOf(log), ['a', 'b', 'c', 'd'])
  t.is(log.next_seq, 5)
  t.is(log.bytes, 8)
})

test('a repeated call with a seq counts once; without a seq it counts each time', t => {
  t.deepEqual(linesOf(after(report(['a'], 0), report(['a'], 0), report(['b'], 1))), ['a', 'b'])
  t.deepEqual(linesOf(after(report(['a']), report(['a']))), ['a', 'a'])
})

test('each producer counts its seq separately', t => {
  const log = after(report(['a'], 0, 'p'), report(['b'], 0, 'q'), report(['b'], 0, 'q'))
  t.deepEqual(linesOf(log), ['a', 'b'])
})

test('output is joined across pieces, and bytes already stored are dropped', t => {
  const log = after(
    output(0, Buffer.from('one\ntw')),
    output(0, Buffer.from('one\ntw')),
    output(4, Buffer.from('two\nthree')),
  )
  t.deepEqual(linesOf(log), ['one', 'two'])
  t.deepEqual(linesOf(after(output(0, Buffer.from('x')), eof('failed'))), ['x'])
})

test('a piece without bytes ends its stream, and with it an unfinished line', t => {
  const none = Buffer.alloc(0)
  const last = [output(0, Buffer.from('one\ntwo')), output(7, none)]
  t.deepEqual(linesOf(after(...last)), ['one', 'two'])
  t.deepEqual(
    linesOf(after(...last, ...last, eof('failed'))),
    ['one', 'two'],
    'repeats add nothing',
  )
  t.deepEqual(linesOf(after(...last, output(7, Buffer.from('three\n')))), ['one', 'two', 'three'])
  const early = [output(0, Buffer.from('a')), output(1, Buffer.from('b')), output(1, none)]
  t.deepEqual(linesOf(after(...early)), [], 'an earlier end is a repeat')
  t.deepEqual(linesOf(after(output(0, Buffer.from('out\n')), output(4, none))), ['out'])
})

test('each stream and each attempt counts its bytes separately', t => {
  const log = after(
    output(0, Buffer.from('out\n')),
    output(0, Buffer.from('err\n'), { stream: 'stderr' }),
    output(0, Buffer.from('again\n'), {}, 2),
  )
  t.deepEqual(linesOf(log), ['out', 'err', 'again'])
  t.deepEqual(
    log.added.map(({ attempt, stream }) => [attempt, stream]),
    [
      [1, 'stdout'],
      [1, 'stderr'],
      [2, 'stdout'],
    ],
  )
})

test('a gap in the output splits a line instead of joining unrelated bytes', t => {
  const log = after(output(0, Buffer.from('beg')), output(10, Buffer.from('end\n')))
  t.deepEqual(linesOf(log), ['beg', 'end'])
})

test('an output that is cut, restarted and repeated anywhere gives each line once', t => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '\n', '\n', '😀') }), { maxLength: 40 }),
      fc.array(fc.tuple(fc.nat(), fc.nat({ max: 20 })), { maxLength: 40 }),
      (parts, pieces) => {
        const all = Buffer.from(parts.join(''))
        const log = emptyLog()
        let shipped = 0
        for (const [back, length] of pieces) {
          const from = shipped === 0 ? 0 : back % (shipped + 1)
          const piece = all.subarray(from, from + length)
          if (piece.length > 0) absorb(log, output(from, piece))
          shipped = Math.max(shipped, Math.min(all.length, from + length))
        }
        const rest = all.subarray(shipped)
        if (rest.length > 0) absorb(log, output(shipped, rest))
        absorb(log, eof('succeeded'))
        const lines = all.toString().split('\n')
        if (lines.at(-1) === '') lines.pop()
        t.deepEqual(linesOf(log), lines)
        t.is(log.next_seq, lines.length + 1)
      },
    ),
  )
})

test('the first of several ends of a log counts', t => {
  t.deepEqual(after(eof('failed'), eof('succeeded')).eof, {
    state: 'failed',
    at: noon,
    points: null,
  })
})

test('past 100 MiB within an hour the rest is dropped with one marker, and the next hour continues', t => {
  const mib = Buffer.alloc(1024 * 1024, `${'x'.repeat(1023)}\n`)
  const log = emptyLog()
  for (let i = 0; i < 101; i++) absorb(log, output(i * mib.length, mib))
  t.true(log.truncated)
  t.is(log.bytes, hourLimitBytes + Buffer.byteLength(linesOf(log).at(-1) ?? '') + 1)
  t.is(log.added.filter(segment => segment.stream === 'forge').length, 1)
  t.regex(linesOf(log).at(-1) ?? '', /more than 100 MiB within one hour/)
  const later = fact(
    'logs.appended',
    encodeLogs({ origin: 'report', ...place, producer: '', seq: null, chunks: ['on'] }),
    noon + 3_600_000,
  )
  absorb(log, later)
  t.is(linesOf(log).at(-1), 'on')
})

test('a fact that is not about logs is refused', t => {
  t.throws(() => after(fact('metrics.appended', Buffer.alloc(0))), {
    message: /not a fact of logs/,
  })
})
