import { Agent, type OutgoingHttpHeaders, request } from 'node:http'
import test, { type ExecutionContext } from 'ava'
import OpenAI from 'openai'
import { sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { processes } from '../servers/processes.ts'
import {
  answersClients,
  answersPython,
  endsAbortedAnswers,
  refusesInItsWords,
} from './openai-clients.ts'
import { logOf, replicasOn, trainedModel, untilSaid, untilState } from './replicas.ts'

const shared = sharedForge()
let model: Promise<string> | null = null

/** A server, and the last checkpoint of a short training of the language model on it. */
async function withModel() {
  const forge = await shared()
  model ??= trainedModel(forge)
  return { forge, artifact_id: await model }
}

/** A proxy in between may send a body in chunks, and keeps its connections. */
async function keepsConnections(t: ExecutionContext, base_url: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const ports = new Set<number | undefined>()
  const ask = (path: string, parts: string[], headers: OutgoingHttpHeaders = {}) =>
    new Promise<number | undefined>((resolve, reject) => {
      const method = parts.length === 0 ? 'GET' : 'POST'
      const asked = request(base_url + path, { agent, method, headers }, answer => {
        ports.add(answer.socket.localPort)
        answer.resume().on('end', () => resolve(answer.statusCode))
      })
      asked.on('error', reject)
      for (const part of parts) asked.write(part)
      asked.end()
    })
  const body = JSON.stringify({ model: 'bard', prompt: 'x', max_tokens: 2 })
  t.is(await ask('/completions', [body.slice(0, 9), body.slice(9)]), 200)
  t.is(await ask('/models', []), 200)
  t.is(await ask('/completions', ['{']), 400)
  t.is(await ask('/completions', [body], { 'content-length': Buffer.byteLength(body) }), 200)
  t.is(ports.size, 1, 'over one connection')
  const smuggled = { 'content-length': '5', 'transfer-encoding': 'chunked' }
  t.is(await ask('/completions', [body], smuggled), 400)
  t.is(await ask('/models', []), 200)
  t.is(ports.size, 2, 'the rest of an ambiguous body is not a request')
}

test('a replica serves a trained model to the official clients, and ends when it is stopped', async t => {
  t.timeout(patient(500_000), 'environments are built')
  const { forge, artifact_id } = await withModel()
  const replicas = await replicasOn(t, forge)
  const wanted = { template: 'tiny-lm', artifact_id, served_names: ['bard', 'default'] }
  const { run_id, base_url } = await replicas.submit({ ...wanted, replica_id: 'rep_1' })
  const again = await replicas.submit({ ...wanted, replica_id: 'rep_1' })
  t.is(again.run_id, run_id, 'a replica is one job, however often it is submitted')
  await untilState(forge, run_id, 'running')

  const client = new OpenAI({ baseURL: base_url, apiKey: 'none', maxRetries: 0 })
  await answersClients(t, client)
  await refusesInItsWords(t, client)
  await endsAbortedAnswers(t, client, () => logOf(forge, run_id))
  await keepsConnections(t, base_url)
  await answersPython(t, forge, base_url, 'none')

  const { body: job } = await forge.call<{ gpus: number }>('GET', `/api/jobs/${run_id}`)
  t.is(job.gpus, 0)
  await replicas.stop(run_id)
  await untilState(forge, run_id, 'stopped')
  await replicas.stop(run_id)
  await t.throwsAsync(client.models.list().then(), { instanceOf: OpenAI.APIConnectionError })
  await untilSaid(forge, run_id, /the engine ended with exit code 0/)
})

test('an engine that cannot start ends its job, with its last output', async t => {
  t.timeout(patient(500_000), 'the environment is built')
  const { forge, artifact_id } = await withModel()
  const replicas = await replicasOn(t, forge)
  const { run_id } = await replicas.submit({ template: 'tiny-lm', artifact_id, args: ['--bad'] })
  await untilState(forge, run_id, 'failed')
  await untilSaid(forge, run_id, /before it was ready; its last output:\n.*\n?.*unrecognized/s)
  const { body } = await forge.call<{ started_at: string | null }>('GET', `/api/jobs/${run_id}`)
  t.is(body.started_at, null, 'nothing is paid for it')
})

/** The processes on this machine whose command line contains these consecutive words. */
async function processesWith(...words: string[]): Promise<number[]> {
  const found = (await processes()).filter(({ commandLine }) =>
    commandLine.includes(words.join('\0')),
  )
  return found.map(({ pid }) => pid)
}

test('an engine that is killed fails its job, and a person cannot submit it again', async t => {
  t.timeout(patient(500_000), 'the environment is built')
  const { forge, artifact_id } = await withModel()
  const replicas = await replicasOn(t, forge)
  const { run_id, socket } = await replicas.submit({ template: 'tiny-lm', artifact_id })
  await untilState(forge, run_id, 'running')
  const engines = await processesWith('--socket', socket)
  t.is(engines.length, 1)
  process.kill(engines[0] ?? 0, 'SIGKILL')
  await untilState(forge, run_id, 'failed')
  await untilSaid(forge, run_id, /the engine ended by signal 9/)
  const { status, body } = await forge.call<{ code: string }>('POST', `/api/jobs/${run_id}/retry`)
  t.is(status, 400)
  t.is(body.code, 'recipe_handshake.serving')
})

test('a replica that is stopped before its engine responds has not failed', async t => {
  t.timeout(patient(500_000), 'the environment is built')
  const { forge, artifact_id } = await withModel()
  const replicas = await replicasOn(t, forge)
  // It listens where nobody polls it.
  const elsewhere = ['--socket', 'elsewhere.sock']
  const wanted = { template: 'tiny-lm', artifact_id, args: elsewhere }
  const { run_id } = await replicas.submit(wanted)
  await untilSaid(forge, run_id, /^serves /m)
  await forge.call('POST', `/api/jobs/${run_id}/stop`)
  await untilState(forge, run_id, 'stopped')
  t.notRegex(await logOf(forge, run_id), /before it was ready/)
})

test('people cannot submit a template’s job, and see templates only on request', async t => {
  t.timeout(patient(100_000))
  const forge = await shared()
  const { body: plain } = await forge.call<{ name: string }[]>('GET', '/api/recipes')
  t.false(plain.some(({ name }) => name.startsWith('serving.')))
  const { body: templates } = await forge.call<{ name: string; kind: string }[]>(
    'GET',
    '/api/recipes?kind=serve',
  )
  t.deepEqual(
    templates.map(({ name, kind }) => `${name} ${kind}`),
    ['serving.llama-cpp serve', 'serving.tiny-lm serve', 'serving.vllm serve'],
  )
  const { body: lock } = await forge.call('GET', '/api/recipes/serving.tiny-lm/1.1.0/lock')
  const { status, body } = await forge.call<{ detail: string; code: string }>('POST', '/api/jobs', {
    body: { api: 'forge/v2', kind: 'serve', metadata: { name: 'x', project: 'demo' }, lock },
  })
  t.is(status, 400)
  t.is(body.code, 'recipe_handshake.serving')
  t.regex(body.detail, /deploy it with `forge deploy create`/)
})
