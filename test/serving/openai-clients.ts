import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import type { ExecutionContext } from 'ava'
import OpenAI from 'openai'
import type { Forge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'

/** The calls of the official `openai` clients to a model that `tiny-lm` serves as `bard` and `default`. */

const question = [{ role: 'user' as const, content: 'Shall I compare thee' }]

export async function answersClients(t: ExecutionContext, client: OpenAI): Promise<void> {
  const models = []
  for await (const model of client.models.list()) models.push(model.id)
  t.deepEqual(models, ['bard', 'default'])
  const asked = { model: 'bard', messages: question, max_tokens: 40, seed: 7 }
  const chat = await client.chat.completions.create(asked)
  t.is(chat.choices[0]?.message.content?.length, 40)
  t.is(chat.choices[0]?.finish_reason, 'length')
  t.deepEqual(chat.usage, {
    prompt_tokens: 21,
    completion_tokens: 40,
    total_tokens: 61,
  })
  const stream = await client.chat.completions.create({
    ...{ ...asked, stream: true },
    stream_options: { include_usage: true },
  })
  const parts: string[] = []
  let usage: unknown
  for await (const chunk of stream) {
    parts.push(chunk.choices[0]?.delta?.content ?? '')
    usage = chunk.usage ?? usage
  }
  t.is(chat.choices[0]?.message.content, parts.join(''), 'the same seed writes the same')
  t.true(parts.length > 40, 'letter by letter')
  t.deepEqual(usage, chat.usage)

  const written = await client.completions.create({
    ...{ model: 'default', prompt: ['a', 'b'], n: 2, max_tokens: 9, temperature: 0 },
  })
  t.deepEqual(
    written.choices.map(({ index, text }) => [index, text.length]),
    [0, 1, 2, 3].map(index => [index, 9]),
  )
  t.is(written.choices[0]?.text, written.choices[1]?.text, 'at temperature 0')
  const stop = written.choices[0]?.text.slice(3, 5) ?? ''
  const stopped = await client.completions.create({
    ...{ model: 'default', prompt: 'a', max_tokens: 9, temperature: 0, stop: [stop] },
  })
  t.is(stopped.choices[0]?.finish_reason, 'stop')
  t.is(stopped.choices[0]?.text, written.choices[0]?.text.split(stop)[0])

  // The client requests base64, and decodes it.
  const { data } = await client.embeddings.create({ model: 'bard', input: ['thee', 'thou'] })
  const floats = await client.embeddings.create({
    ...{ model: 'bard', input: 'thee', encoding_format: 'float' },
  })
  t.is(data.length, 2)
  t.is(data[0]?.embedding.length, 32)
  t.deepEqual(data[0]?.embedding.map(Math.fround), floats.data[0]?.embedding.map(Math.fround))
}

export async function refusesInItsWords(t: ExecutionContext, client: OpenAI): Promise<void> {
  const chat = (part: object) =>
    client.chat.completions.create({ model: 'bard', messages: question, ...part })
  const unknown = await t.throwsAsync(chat({ model: 'other' }), {
    instanceOf: OpenAI.NotFoundError,
  })
  t.like(unknown, { code: 'model_not_found', param: 'model', type: 'invalid_request_error' })
  for (const part of [{ max_tokens: 0 }, { temperature: 9 }, { messages: [] }, { logprobs: true }])
    await t.throwsAsync(chat(part), { instanceOf: OpenAI.BadRequestError }, JSON.stringify(part))
  const raw = await chat({ max_tokens: 3 }).asResponse()
  t.is(raw.headers.get('content-type'), 'application/json')
  const text = await raw.text()
  t.is(Number(raw.headers.get('content-length')), Buffer.byteLength(text))
}

export async function endsAbortedAnswers(
  t: ExecutionContext,
  client: OpenAI,
  said: () => Promise<string>,
) {
  const long = { model: 'bard', prompt: 'x', max_tokens: 100_000 }
  const stream = await client.completions.create({ ...long, stream: true })
  for await (const chunk of stream) {
    t.truthy(chunk.choices[0])
    break
  }
  // The engine does not learn of a request that was aborted before reaching it.
  await until('the engine has noticed both', 60_000, async () => {
    const giveUp = new AbortController()
    const asking = client.completions.create(long, { signal: giveUp.signal })
    setTimeout(() => giveUp.abort(), 500)
    await t.throwsAsync(asking, { instanceOf: OpenAI.APIUserAbortError })
    const lines = (await said())
      .split('\n')
      .filter(line => line.includes('the client disconnected'))
    return lines.length >= 2
  })
}

/** The official Python client makes the same calls, in its own environment. */
export async function answersPython(
  t: ExecutionContext,
  forge: Forge,
  base_url: string,
  api_key: string,
): Promise<void> {
  const venv = path.join(forge.dataDir, 'openai')
  const run = promisify(execFile)
  await run('python3', ['-m', 'venv', venv])
  const python = path.join(venv, 'bin', 'python')
  await run(python, ['-m', 'pip', 'install', '-q', '--no-input', 'openai==3.54.0'])
  const { stdout } = await run(python, ['-c', pythonProgram, base_url, api_key])
  t.deepEqual(JSON.parse(stdout), {
    ...{ models: ['bard', 'default'], same: true, usage: 20, embedding: 32, raw: '200' },
    refused: 'model_not_found',
  })
}

const pythonProgram = `
import json, sys
import openai

client = openai.OpenAI(base_url=sys.argv[1], api_key=sys.argv[2], max_retries=0)
asked = dict(model="bard", messages=[{"role": "user", "content": "thou"}], max_tokens=20, seed=3)
whole = client.chat.completions.create(**asked)
stream = client.chat.completions.create(stream=True, **asked)
text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
with client.chat.completions.with_streaming_response.create(stream=True, **asked) as reply:
    next(reply.iter_lines())
raw = client.completions.with_raw_response.create(model="bard", prompt="x", max_tokens=2)
try:
    client.completions.create(model="other", prompt="x")
except openai.NotFoundError as error:
    refused = error.code
print(json.dumps({
    "models": [model.id for model in client.models.list()],
    "same": text == whole.choices[0].message.content,
    "usage": whole.usage.completion_tokens,
    "embedding": len(client.embeddings.create(model="bard", input="thee").data[0].embedding),
    "raw": str(raw.http_response.status_code),
    "refused": refused,
}))
`
