import test from 'ava'
import fc from 'fast-check'
import { JsonScanner, parsed } from '../../gateway/scan-json.ts'
import { usageReader } from '../../gateway/usage.ts'

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

/** The same bytes in pieces. */
function pieces(text: string, at: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text)
  const ends = [...at.map(cut => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

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

test('compressed responses are not read', t => {
  t.is(usageReader('application/json', 'gzip').usage().usage_source, 'none')
})
