import test from 'ava'
import fc from 'fast-check'
import {
  logPosition,
  parsePosition,
  positionSeal,
  streamPosition,
} from '../../platform/position.ts'

const stream = fc.string({ unit: 'binary', minLength: 1, maxLength: 300 })
const streamName = stream.filter(name => !name.includes('\0'))

test('a position in a stream survives encoding and decoding', t => {
  fc.assert(
    fc.property(streamName, fc.nat(999_999_999), (name, version) => {
      t.deepEqual(parsePosition(streamPosition(name, version)), {
        kind: 'stream',
        stream: name,
        version,
      })
    }),
  )
})

test('a position on the log survives encoding and decoding', t => {
  const topic = fc.stringMatching(/^[\w.-]{1,50}$/)
  const offset = fc.bigInt({ min: 0n, max: 999_999_999_999_999n })
  fc.assert(
    fc.property(topic, fc.nat(999_999), offset, (topic, partition, offset) => {
      const at = { topic, partition, offset }
      t.deepEqual(parsePosition(logPosition(at)), { kind: 'log', ...at })
    }),
  )
})

test('positions stored with an Idempotency-Key can still be read', t => {
  t.is(streamPosition('rubric-alice/helpful', 3), 'czozOnJ1YnJpYy1hbGljZS9oZWxwZnVs')
  t.is(logPosition({ topic: 'metrics', partition: 1, offset: 42n }), 'bDptZXRyaWNzOjE6NDI')
})

test('any text from a client is parsed as a position that PostgreSQL accepts, or as null', t => {
  const text = fc.string({ unit: 'binary', maxLength: 300 })
  const packed = fc
    .oneof(
      text,
      text.map(tail => `s:1:${tail}`),
      text.map(tail => `l:t:${tail}`),
    )
    .map(inside => Buffer.from(inside).toString('base64url'))
  fc.assert(
    fc.property(fc.oneof(text, packed), sent => {
      const position = parsePosition(sent)
      if (position === null) return
      if (position.kind === 'log') {
        t.true(position.offset >= 0n && position.partition < 1_000_000)
        return
      }
      t.false(position.stream.includes('\0'))
      t.true(position.version < 2 ** 31)
    }),
  )
  const pack = (inside: string) => Buffer.from(inside).toString('base64url')
  for (const none of ['', 's', pack('s:1:'), pack('s:-1:x'), pack('s:1e3:x'), pack('s:1:a\0b')])
    t.is(parsePosition(none), null, none)
  for (const none of ['l:t:1:', 'l:t:1:-1', 'l:t t:1:1', 'l:t:1:1 ', `s:${'9'.repeat(10)}:x`])
    t.is(parsePosition(pack(none)), null, none)
  t.is(parsePosition(pack(`s:1:${'x'.repeat(100_000)}`)), null)
})

test('a sealed position is opened by the person it was given to, and by nobody else', t => {
  const seal = positionSeal(Buffer.alloc(32, 1))
  const position = streamPosition('user-ada', 3)
  const sealed = seal.seal(position, 'ada')
  t.is(seal.open(sealed, 'ada'), position)
  t.is(positionSeal(Buffer.alloc(32, 1)).open(sealed, 'ada'), position, 'in every process')
  t.is(seal.open(sealed, 'bob'), null)
  t.is(positionSeal(Buffer.alloc(32, 2)).open(sealed, 'ada'), null)
  const [, mac = ''] = sealed.split('.')
  const others = [streamPosition('user-bob', 1), streamPosition('user-ada', 4)]
  for (const forged of [position, '', '.', `${position}.`, `.${mac}`, `${sealed}.x`, `${sealed}A`])
    t.is(seal.open(forged, 'ada'), null, forged)
  for (const other of others) t.is(seal.open(`${other}.${mac}`, 'ada'), null)
  t.is(seal.open(`${'x'.repeat(100_000)}.${mac}`, 'ada'), null)
})
