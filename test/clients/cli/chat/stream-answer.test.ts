import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { createApi } from '../../../../clients/cli/api/client.ts'
import { streamAnswer } from '../../../../clients/cli/chat/stream-answer.ts'

const tokens = 500

test('tokens per second cover the whole answer, even one that arrives at once', async t => {
  const lines = [
    { choices: [{ delta: { content: 'Shall I' } }] },
    { choices: [{ delta: { content: ' compare thee' } }] },
    { choices: [], usage: { completion_tokens: tokens } },
  ].map(chunk => `data: ${JSON.stringify(chunk)}\n\n`)
  const engine = createServer((_, response) => {
    response.setHeader('content-type', 'text/event-stream')
    response.end(`${lines.join('')}data: [DONE]\n\n`)
  })
  engine.listen(0, '127.0.0.1')
  await once(engine, 'listening')
  t.teardown(() => engine.close())
  const host = `http://127.0.0.1:${(engine.address() as AddressInfo).port}`
  const api = createApi({ host, token: 'x', userAgent: 'test', onSlow: () => {} })
  const question = { path: '/v1/chat/completions', body: {}, onPiece: () => {} }
  const began = performance.now()
  const answered = await streamAnswer(api, question, new AbortController().signal)
  const tookS = (performance.now() - began) / 1000
  t.like(answered, { text: 'Shall I compare thee', completion_tokens: tokens, aborted: false })
  const { ttft_ms, tokens_per_s } = answered
  if (ttft_ms === null || tokens_per_s === null) return t.fail('there was an answer')
  t.true(tokens_per_s >= tokens / tookS - 1)
  t.true(tokens_per_s <= tokens / ((ttft_ms - 1) / 1000), `${tokens_per_s} after ${ttft_ms} ms`)
})
