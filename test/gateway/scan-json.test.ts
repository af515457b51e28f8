import test from 'ava'
import fc from 'fast-check'
import { JsonScanner, parsed } from '../../gateway/scan-json.ts'
import { usageReader } from '../../gateway/usage.ts'
import { pieces } from './pieces.ts'

/** Objects whose keys and texts are made to confuse a scanner. */
const tricky = fc.constantFrom(
  'model',
  'usage',
  '{"usage":1}',
  '"',
  '\\',
  '\\"',
  ',',
  ':',
  'é',
  '😀',
)
const key = fc.oneof(tricky, fc.string({ maxLength: 8 }))
const { value } = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(tricky, fc.string(), fc.double({ noNaN: true }), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ),
}))
const document = fc.dictionary(key, value, { maxKeys: 8 })
const cuts = fc.array(fc.nat(), { maxLength: 12 })

/** Longer values are left out. */
const isLong = (value: unknown, indent: number): boolean =>
  (JSON.stringify(value, null, indent) ?? '').length > 500

test('the scanner finds the same values as JSON.parse, however the bytes are cut', t => {
  fc.assert(
    fc.property(document, cuts, fc.constantFrom(0, 2), (object, at, indent) => {
      const scanner = new JsonScanner(['model', 'usage'])
      for (const piece of pieces(JSON.stringify(object, null, indent), at)) scanner.push(piece)
      const expected = new Map<string, unknown>(
        Object.entries(JSON.parse(JSON.stringify(object)) as object),
      )
      for (const name of ['model', 'usage'])
        if (!isLong(expected.get(name), indent))
          t.deepEqual(parsed(scanner.found.get(name)), expected.get(name))
    }),
    { numRuns: 2_000 },
  )
})

test('the scanner finds the values of an object in the document, and of no deeper one', t => {
  const names = ['usage', 'response.usage', 'response.error', 'message.usage']
  const object = fc.dictionary(
    fc.constantFrom('response', 'message', 'usage', 'error', 'response.usage', 'x'),
    fc.oneof(value, fc.dictionary(fc.constantFrom('usage', 'error', 'response', 'y'), value)),
    { maxKeys: 6 },
  )
  fc.assert(
    fc.property(object, cuts, fc.constantFrom(0, 2), (made, at, indent) => {
      const scanner = new JsonScanner(names)
      for (const piece of pieces(JSON.stringify(made, null, indent), at)) scanner.push(piece)
      const plain = JSON.parse(JSON.stringify(made)) as Record<string, unknown>
      const inner = (one: unknown, name: string) =>
        typeof one === 'object' && one !== null && !Array.isArray(one)
          ? (one as Record<string, unknown>)[name]
          : undefined
      for (const path of names) {
        const [first = '', second] = path.split('.')
        const expected = second === undefined ? plain[first] : inner(plain[first], second)
        if (!isLong(expected, indent)) t.deepEqual(parsed(scanner.found.get(path)), expected)
      }
    }),
    { numRuns: 2_000 },
  )
})

test('bytes that are not JSON never throw, and yield no usage', t => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 10 }), chunks => {
      const scanner = new JsonScanner(['usage'])
      const stream = usageReader('text/event-stream', '')
      t.notThrows(() => {
        for (const chunk of chunks) {
          scanner.push(chunk)
          stream.push(chunk)
        }
      })
      t.deepEqual([...scanner.found.keys()], [])
      t.is(stream.usage().usage_source, 'none')
    }),
    { numRuns: 2_000 },
  )
})

test('the usage of a stream is the last one that a chunk reports, however the stream is cut', t => {
  const count = fc.nat({ max: 1_000_000 })
  const newline = fc.constantFrom('\n', '\r\n')
  fc.assert(
    fc.property(
      fc.array(tricky, { maxLength: 20 }),
      fc.option(count),
      newline,
      cuts,
      (texts, told, end, at) => {
        const events: unknown[] = texts.map(content => ({
          choices: [{ delta: { content } }],
          usage: null,
        }))
        if (told !== null)
          events.push({ choices: [], usage: { prompt_tokens: 3, completion_tokens: told } })
        const lines = [...events.map(event => JSON.stringify(event)), '[DONE]']
        const reader = usageReader('text/event-stream; charset=utf-8', '')
        for (const piece of pieces(lines.map(line => `data: ${line}${end}${end}`).join(''), at))
          reader.push(piece)
        t.true(reader.isDone())
        const { usage_source, completion_tokens } = reader.usage()
        if (told !== null) t.deepEqual([usage_source, completion_tokens], ['engine', told])
        else if (texts.length > 0)
          t.deepEqual([usage_source, completion_tokens], ['estimated', texts.length])
        else t.is(usage_source, 'none')
      },
    ),
    { numRuns: 1_000 },
  )
})
