import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { usageReader } from '../../gateway/usage.ts'
import type { TrafficRow } from '../../schemas/traffic.ts'
import { serveEngine } from '../servers/engine.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { pieces } from './pieces.ts'
import { openStage } from './stage.ts'

const event = (data: object, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`

/** Streams as the APIs write them, whose last event holds this text as well. */
const streams: Record<string, (text: string) => string> = {
  chat: text =>
    [
      event({ choices: [{ delta: { content: text } }], usage: null }),
      event({ choices: [], usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 } }),
      'data: [DONE]\n\n',
    ].join(''),
  completions: text =>
    `${event({
      choices: [{ text }],
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    })}data: [DONE]\n\n`,
  responses: text =>
    [
      event(
        { type: 'response.created', response: { id: 'r', error: null, usage: null } },
        'response.created',
      ),
      event({ type: 'response.output_text.delta', delta: 'a' }, 'response.output_text.delta'),
      event(
        {
          type: 'response.completed',
          response: {
            error: null,
            output: [{ content: [{ text, usage: { input_tokens: 1 } }] }],
            usage: { input_tokens: 11, output_tokens: 7 },
          },
        },
        'response.completed',
      ),
    ].join(''),
  messages: text =>
    [
      event(
        { type: 'message_start', message: { usage: { input_tokens: 11, output_tokens: 1 } } },
        'message_start',
      ),
      event(
        { type: 'content_block_delta', delta: { type: 'text_delta', text } },
        'content_block_delta',
      ),
      event({ type: 'message_delta', delta: {}, usage: { output_tokens: 7 } }, 'message_delta'),
      event({ type: 'message_stop' }, 'message_stop'),
    ].join(''),
}
const told = { prompt_tokens: 11, completion_tokens: 7, usage_source: 'engine' } as const

const texts = fc.oneof(
  fc.constantFrom('', '"usage"', '{"usage":{"output_tokens":9}}', 'data: [DONE]', '\n\nevent: x'),
  fc.nat({ max: 3 }).map(times => 'é"\\\n'.repeat(times * 30_000)),
)
const cuts = fc.array(fc.nat(), { maxLength: 12 })

for (const [api, made] of Object.entries(streams))
  test(`the tokens of a stream are counted, in lines of any length: ${api}`, t => {
    fc.assert(
      fc.property(texts, cuts, fc.constantFrom('\n', '\r\n'), (text, at, end) => {
        const reader = usageReader('text/event-stream', '')
        for (const piece of pieces(made(text).replaceAll('\n', end), at)) reader.push(piece)
        t.deepEqual(reader.usage(), told)
        t.true(reader.isDone())
        t.false(reader.hasFailed())
      }),
      { numRuns: 60 },
    )
  })

test('pieces of a stream without usage are an estimate, whatever its API', t => {
  for (const one of [
    { choices: [{ delta: { content: 'a' } }] },
    { choices: [{ text: 'a' }] },
    { type: 'response.output_text.delta', delta: 'a' },
    { type: 'content_block_delta', delta: { type: 'text_delta', text: 'a' } },
    { type: 'content_block_delta', delta: { type: 'thinking_delta', thinking: 'a' } },
  ]) {
    const reader = usageReader('text/event-stream', '')
    reader.push(Buffer.from(event(one).repeat(3)))
    t.like(reader.usage(), { completion_tokens: 3, usage_source: 'estimated' })
  }
})

const encodings: Record<string, (plain: Buffer) => Buffer> = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
  GZIP: gzipSync,
}
const document = JSON.stringify({
  choices: [{ message: { content: 'x'.repeat(5_000) } }],
  usage: { prompt_tokens: 11, completion_tokens: 7 },
})

for (const [encoding, encode] of Object.entries(encodings))
  test(`the tokens of a compressed response are counted: ${encoding}`, t => {
    const chat = streams.chat?.('x') ?? ''
    for (const [type, plain] of [
      ['application/json', document],
      ['text/event-stream', chat],
    ] as const) {
      const reader = usageReader(type, encoding)
      for (const piece of pieces(encode(Buffer.from(plain)), [3, 40])) reader.push(piece)
      t.deepEqual(reader.usage(), told)
      t.deepEqual(reader.usage(), told, 'also when it is asked again')
    }
  })

test('a compressed response that expands too far, is too long or is damaged has no usage', t => {
  const bomb = gzipSync(Buffer.concat([Buffer.alloc(64 * 1024 * 1024, ' '), Buffer.from(document)]))
  const long = gzipSync(Buffer.concat([Buffer.alloc(300_000, document)]), { level: 0 })
  const damaged = gzipSync(document).fill(7, 20, 40)
  for (const encoded of [bomb, long, damaged, Buffer.alloc(0)]) {
    const reader = usageReader('application/json', 'gzip')
    reader.push(encoded)
    t.is(reader.usage().usage_source, 'none')
  }
  const unknown = usageReader('application/json', 'constructor')
  unknown.push(Buffer.from(document))
  t.is(unknown.usage().usage_source, 'none')
})

const failures: Record<string, string> = {
  chat: event({ error: { message: 'out of memory', code: 500 } }),
  text: event({ error: 'out of memory' }),
  messages: event({ type: 'error', error: { type: 'overloaded_error' } }, 'error'),
  responses: event(
    { type: 'response.failed', response: { error: { code: 'server_error' } } },
    'response.failed',
  ),
  'responses without more': event({ type: 'error', code: 'server_error', message: 'no' }, 'error'),
  'in a long line': event({ text: 'x'.repeat(100_000), error: { message: 'out of memory' } }),
}
for (const [what, failure] of Object.entries(failures))
  test(`an error in a stream is seen, however it is cut: ${what}`, t => {
    fc.assert(
      fc.property(cuts, at => {
        const reader = usageReader('text/event-stream', '')
        for (const piece of pieces(`${event({ choices: [] })}${failure}`, at)) reader.push(piece)
        t.true(reader.hasFailed())
      }),
      { numRuns: 50 },
    )
  })

test('a value that describes no error is no failure', t => {
  for (const one of [
    { error: null },
    { error: '' },
    { error: 0.25 },
    { error: false },
    { choices: [{ delta: { content: '{"error":{"message":"no"}}' } }] },
    { choices: [{ error: { message: 'of a choice' } }] },
  ]) {
    const stream = usageReader('text/event-stream', '')
    stream.push(Buffer.from(event(one)))
    t.false(stream.hasFailed(), JSON.stringify(one))
    const whole = usageReader('application/json', '')
    whole.push(Buffer.from(JSON.stringify(one)))
    t.false(whole.hasFailed(), JSON.stringify(one))
  }
})

/** The row of one request to an engine that streams this; the caller hangs up at the end of it or waits for the engine's end. */
async function rowOf(
  t: ExecutionContext,
  { body, hangsUp }: { body: string; hangsUp: boolean },
): Promise<TrafficRow> {
  const stage = await openStage(t)
  const url = await serveEngine(t, (_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write(body)
    if (!hangsUp) res.end()
  })
  await stage.tables.deploy('dep_a', 'rev_a', [url])
  const { token } = await stage.tables.token('dep_a')
  const leaving = new AbortController()
  const response = await fetch(`${stage.url}/inference/dep_a/v1/chat/completions`, {
    headers: { authorization: `Bearer ${token}` },
    signal: leaving.signal,
  })
  if (hangsUp) {
    await response.body?.getReader().read()
    leaving.abort()
  } else await response.text()
  return await until('it is on record', 10_000, () => stage.rows[0])
}

test('an error within a stream of status 200 is recorded as a fault of the engine, along with the tokens before it', async t => {
  t.timeout(patient(60_000))
  const usage = event({ choices: [], usage: { prompt_tokens: 11, completion_tokens: 7 } })
  const row = await rowOf(t, { body: `${usage}${failures.chat}`, hangsUp: false })
  t.like(row, { ...told, status: 200, error_source: 'engine', aborted: false })
})

test('a caller who hangs up at the error of an engine is not at fault', async t => {
  t.timeout(patient(60_000))
  const row = await rowOf(t, { body: failures.chat ?? '', hangsUp: true })
  t.like(row, { status: 200, error_source: 'engine', aborted: true })
})

test('a compressed response passes unchanged, and its tokens are on record', async t => {
  t.timeout(patient(60_000))
  const stage = await openStage(t)
  const body = gzipSync(document)
  const url = await serveEngine(t, (_, res) => {
    res.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
    res.end(body)
  })
  await stage.tables.deploy('dep_a', 'rev_a', [url])
  const { token } = await stage.tables.token('dep_a')
  const response = await fetch(`${stage.url}/inference/dep_a/v1/chat/completions`, {
    headers: { authorization: `Bearer ${token}` },
  })
  t.is(response.headers.get('content-encoding'), 'gzip')
  t.is(await response.text(), document)
  const row = await until('it is on record', 10_000, () => stage.rows[0])
  t.like(row, { ...told, response_bytes: body.length })
})
