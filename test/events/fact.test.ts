import { readdirSync, readFileSync } from 'node:fs'
import test from 'ava'
import fc from 'fast-check'
import {
  CorruptFact,
  decodeFact,
  decodeJson,
  encodeFact,
  encodeJson,
  type Fact,
} from '../../events/fact.ts'
import { anyFlip, flipped } from '../platform/series/arbitrary.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 40 })
const anyFact: fc.Arbitrary<Fact> = fc.record({
  type: fc.constantFrom(
    'metrics.appended',
    'logs.appended',
    'logs.eof',
    'validation.received',
    'run.purged',
    'traffic.recorded',
  ),
  event_id: fc.uuid(),
  received_at_ms: fc.integer({ min: 0, max: 253_402_300_799_999 }),
  run_id: text,
  attempt: fc.option(fc.integer({ min: 1, max: 1_000_000 })),
  actor: fc.record({ type: fc.constantFrom('user', 'run', 'system'), id: text, via: text }),
  request_id: text,
  body: fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes)),
})

test('a fact is read unchanged', t => {
  fc.assert(
    fc.property(anyFact, fact => {
      const read = decodeFact(encodeFact(fact))
      t.deepEqual({ ...read, body: Buffer.from(read.body) }, fact)
    }),
  )
})

test('a changed bit or a cut anywhere is an error, never another fact', t => {
  fc.assert(
    fc.property(anyFact, anyFlip, (fact, flip) => {
      const bytes = encodeFact(fact)
      const cut = bytes.subarray(0, flip.place % bytes.length)
      for (const damaged of [flipped(bytes, flip), cut])
        t.throws(() => decodeFact(damaged), { instanceOf: CorruptFact })
    }),
  )
})

test('data that does not fit into a fact is refused on writing', t => {
  const [fact] = fc.sample(anyFact, { numRuns: 1, seed: 1 })
  t.throws(() => encodeFact({ ...(fact as Fact), run_id: 'x'.repeat(256) }), {
    instanceOf: RangeError,
  })
  t.throws(() => encodeFact({ ...(fact as Fact), event_id: 'no-uuid' }), { instanceOf: RangeError })
})

test('a JSON body comes back, short or long', t => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      const plain = JSON.parse(JSON.stringify(value))
      t.deepEqual(decodeJson(encodeJson(value)), plain)
      const long = { value: plain, pad: 'gpu_util '.repeat(200) }
      const bytes = encodeJson(long)
      t.is(bytes[0], 1)
      t.deepEqual(decodeJson(bytes), long)
    }),
  )
})

test('a damaged JSON body is an error', t => {
  for (const bytes of [Buffer.of(), Buffer.of(0), Buffer.from('\0{"a":'), Buffer.from('\x01{}')])
    t.throws(() => decodeJson(bytes), { instanceOf: CorruptFact })
})

// Bytes written by released versions. They are on logs and must stay readable forever.
const folder = new URL('../golden/facts/', import.meta.url)
const files = readdirSync(folder)
test('there are golden facts', t => {
  t.true(files.length > 0)
})
for (const file of files)
  test(`${file} is read unchanged`, t => {
    const { hex, body_hex, json, ...head } = JSON.parse(readFileSync(new URL(file, folder), 'utf8'))
    const { body, ...read } = decodeFact(Buffer.from(hex, 'hex'))
    t.deepEqual(read, head)
    if (body_hex === undefined) t.deepEqual(decodeJson(body), json)
    else t.is(body.toString('hex'), body_hex)
  })
