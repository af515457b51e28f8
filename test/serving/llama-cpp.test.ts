import test from 'ava'
import OpenAI from 'openai'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { replicasOn, untilSaid, untilState } from './replicas.ts'
import { tinyGguf } from './tiny-gguf.ts'

test('llama.cpp serves a GGUF model from the store, for chat, streams and embeddings', async t => {
  t.timeout(patient(500_000), 'environments are built')
  const forge = await startForge(t)
  const artifact_id = await tinyGguf(forge)
  const replicas = await replicasOn(t, forge)
  const { run_id, base_url } = await replicas.submit({
    ...{ template: 'llama-cpp', artifact_id, served_names: ['tiny'] },
    params: { threads: 1, parallel: 2 },
  })
  await untilState(forge, run_id, 'running')
  await untilSaid(forge, run_id, /fetching art_.*tiny\.gguf/)
  const client = new OpenAI({ baseURL: base_url, apiKey: 'none', maxRetries: 0 })
  const { data } = await client.models.list()
  t.deepEqual(
    data.map(({ id }) => id),
    ['tiny'],
  )
  const asked = { model: 'tiny', messages: [{ role: 'user' as const, content: 'Hello' }] }
  // Its weights are random, and it might end a response early: the most likely token is always the same.
  const likeliest = { ...asked, max_tokens: 12, temperature: 0, seed: 1 }
  const chat = await client.chat.completions.create(likeliest)
  const told = chat.usage?.completion_tokens ?? 0
  t.true(told > 0 && told <= 12, `${told}`)
  const stream = await client.chat.completions.create({
    ...{ ...likeliest, stream: true },
    stream_options: { include_usage: true },
  })
  const usages = []
  for await (const { usage } of stream) if (usage) usages.push(usage.completion_tokens)
  t.is(usages.at(-1), told)
  const embedded = await client.embeddings.create({ model: 'tiny', input: ['one', 'two'] })
  t.deepEqual(
    embedded.data.map(({ embedding }) => embedding.length),
    [64, 64],
  )
  await forge.call('POST', `/api/jobs/${run_id}/stop`)
  await untilState(forge, run_id, 'stopped')
  await untilSaid(forge, run_id, /the engine ended with exit code 0/)
})
