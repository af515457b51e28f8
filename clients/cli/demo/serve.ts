import { parseArgs } from 'node:util'
import OpenAI from 'openai'
import type { Api } from '../api/client.ts'
import type { Admission } from '../api/records.ts'
import { type Deployment, pathOfDeployment } from '../deployments/find.ts'
import { untilReady } from '../deployments/until-ready.ts'
import { specOfRecipe } from '../jobs/spec/job-spec.ts'
import { exitCode, Failure, usageFailure } from '../program/failure.ts'
import { pause } from '../program/pause.ts'
import type { Session } from '../program/session.ts'
import { lockOf } from '../recipes/catalogue.ts'
import { followRun } from '../runs/follow/follow.ts'
import { table } from '../terminal/table.ts'
import {
  commonArguments,
  demoFolder,
  demonstrateAndExit,
  readArguments,
  terminal,
  withServer,
  world,
} from './parts.ts'

const usage = `npm run demo:serve [-- options]

Starts a server on this machine, trains a small language model, serves its checkpoint, talks to it with
the official OpenAI client, promotes a better revision under load, and rolls back.

  --steps N        training steps of the first model (1000); the second one trains three times as long
  --callers N      who ask at the same time while revisions change (4)
  --keep           leave the server and the deployment running afterwards
  --port PORT      instead of a free one
  --data DIR       where the server keeps its data, instead of that of npm run demo`

const recipe = 'tiny-lm'
const project = 'demo'
const model = 'bard'

type Options = {
  steps: number
  callers: number
  keep: boolean
  port: number | null
  dataDir: string
}

function readOptions(): Options {
  const { data, port, keep, ...given } = readArguments(usage, () =>
    parseArgs({
      options: {
        steps: { type: 'string', default: '1000' },
        callers: { type: 'string', default: '4' },
        keep: { type: 'boolean', default: false },
        ...commonArguments,
      },
    }),
  )
  const count = (name: 'steps' | 'callers', most: number) => {
    const value = Number(given[name])
    if (!Number.isInteger(value) || value < 1 || value > most)
      throw usageFailure(`--${name} ${given[name]}: give a number from 1 to ${most}`)
    return value
  }
  return {
    ...{ steps: count('steps', 10_000), callers: count('callers', 64), keep, port },
    dataDir: data ?? demoFolder(process.env),
  }
}

const demonstrate = (options: Options): Promise<number> =>
  withServer(options, 'demo:serve', (_, api, signal) =>
    Promise.race([show({ api, options, signal }), untilInterrupted(signal)]),
  )

const untilInterrupted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const end = () => reject(new Failure(exitCode.interrupted, 'Interrupted'))
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })

type Scene = { api: Api; options: Options; signal: AbortSignal }
type Made = { deployment_id: string; revision_id: string }
type Token = { token: string; token_id: string }

async function show(scene: Scene): Promise<number> {
  const { api, options } = scene
  const first = await train(scene, options.steps)
  const second = await train(scene, options.steps * 3)

  const serving = { template: recipe, served_names: [model] }
  const of = (run: Admission) => ({ source: { kind: 'run', run_id: run.run_id }, serving })
  const name = `${model}-of-${first.short_id}`
  const made = await api.post<Made>(
    '/api/deployments',
    { name, project, ...of(first) },
    { creates: true },
  )
  const path = pathOfDeployment(made.deployment_id)
  say(`Serves the last checkpoint of ${first.short_id} as the deployment ${name}`)
  await untilReady({ api, terminal }, made)
  const { base_url } = await api.get<Deployment>(path)
  const token = await api.post<Token>(`${path}/tokens`, { name: 'demo' }, { creates: true })
  say(`  ${base_url}`)
  const client = new OpenAI({ baseURL: base_url, apiKey: token.token, maxRetries: 0 })
  await converse(client)

  say(`Adds a revision from ${second.short_id}, which trained three times as long`)
  const other = await api.post<Made>(`${path}/revisions`, of(second), { creates: true })
  await untilReady({ api, terminal }, other)
  const loaded = await load(client, options.callers)
  const promoted = await timed(() =>
    api.post(`${path}/revisions/${other.revision_id}/promote`, {
      ...{ reason: 'trained longer', expected_promoted_revision_id: made.revision_id },
    }),
  )
  await loaded.passed(options.callers * 5)
  await converse(client)
  const rolledBack = await timed(() => api.post(`${path}/rollback`, { reason: 'to show it' }))
  await loaded.passed(options.callers * 5)
  const load_ended = await loaded.stop()
  printFigures(load_ended, { promoted, rolledBack })

  if (options.keep) {
    terminal.note(`The deployment stays; its token is ${token.token}`)
    return load_ended.failed.length === 0 ? exitCode.ok : exitCode.refused
  }
  await api.delete(`${path}/tokens/${token.token_id}`)
  const refused = await client.models.list().then(
    () => 'still works',
    error => `is refused with ${error.status}`,
  )
  say(`The token was revoked and ${refused}; ${name} is deleted`)
  await api.delete(path)
  await untilGone(api, path)
  return load_ended.failed.length === 0 ? exitCode.ok : exitCode.refused
}

/** Its engines are jobs, which would outlive the server. */
async function untilGone(api: Api, path: string): Promise<void> {
  const deadline = performance.now() + 60_000
  while ((await api.find(path)) !== null && performance.now() < deadline) await pause(200)
}

const say = (line: string) => terminal.data(line)

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** Shows the training as it runs; returns its run. */
async function train({ api }: Scene, steps: number): Promise<Admission> {
  const lock = await lockOf(api, recipe)
  const name = `${model}, ${steps} steps`
  const spec = specOfRecipe({ lock, project, name })
  const params = { steps, hidden: 64, eval_every: steps, checkpoint_every: steps, samples: 1 }
  const admission = await api.post<Admission>(
    '/api/jobs',
    { ...spec, spec: { params } },
    { creates: true },
  )
  say(`Trains a language model letter by letter for ${steps} steps: ${admission.short_id}`)
  const session: Session = {
    ...world,
    ...{ api, context: null, signedInUntil: null, isJson: false },
  }
  const run = { ...admission, name, source: 'job' }
  const attach = (short_id: string) => `forge watch ${short_id}`
  const code = await followRun(session, run, { keys: ['train/loss'], full: false, attach })
  if (code !== exitCode.ok)
    throw new Failure(code, `${admission.short_id} did not succeed; nothing can be served`)
  return admission
}

/** Streams one answer and reports its speed. */
async function converse(client: OpenAI): Promise<void> {
  const question = 'Shall I compare thee'
  const began = performance.now()
  let firstAt: number | null = null
  let tokens = 0
  process.stdout.write(`${terminal.paintNote('dim', `  ${question}`)}`)
  const stream = await client.completions.create({
    ...{ model, prompt: question, max_tokens: 120, stream: true },
  })
  for await (const { choices } of stream) {
    const text = choices[0]?.text ?? ''
    if (text === '') continue
    firstAt ??= performance.now()
    tokens += 1
    process.stdout.write(text.replaceAll('\n', '\n  '))
  }
  const seconds = (performance.now() - began) / 1000
  process.stdout.write('\n')
  terminal.note(
    `  first token after ${Math.round((firstAt ?? began) - began)} ms, ${Math.round(tokens / seconds)} tokens/s`,
  )
}

type Asked = { ms: number; revision: string | null }
type Ended = { asked: Asked[]; failed: string[]; seconds: number }

/** Asks without a pause until it is stopped. */
async function load(client: OpenAI, callers: number) {
  const began = performance.now()
  const asked: Asked[] = []
  const failed: string[] = []
  let isOver = false
  const ask = async () => {
    const at = performance.now()
    const { response } = await client.completions
      .create({ model, prompt: 'thou', max_tokens: 8 })
      .withResponse()
    asked.push({ ms: performance.now() - at, revision: response.headers.get('x-forge-revision') })
  }
  const caller = async () => {
    while (!isOver) {
      await ask().catch(async (error: Error) => {
        failed.push(error.message)
        await pause(100)
      })
    }
  }
  const all = Array.from({ length: callers }, caller)
  const passed = async (more: number) => {
    const from = asked.length
    const deadline = performance.now() + 60_000
    while (asked.length < from + more && performance.now() < deadline) await pause(20)
  }
  await passed(callers * 5)
  return {
    passed,
    async stop(): Promise<Ended> {
      isOver = true
      await Promise.all(all)
      return { asked, failed, seconds: (performance.now() - began) / 1000 }
    },
  }
}

function printFigures(
  { asked, failed, seconds }: Ended,
  { promoted, rolledBack }: { promoted: number; rolledBack: number },
): void {
  const times = asked.map(({ ms }) => ms).sort((a, b) => a - b)
  const at = (share: number) => `${Math.round(times[Math.floor(times.length * share)] ?? 0)} ms`
  const revisions = Object.entries(Object.groupBy(asked, ({ revision }) => revision ?? 'none'))
  const rows: [string, string][] = [
    ['requests while revisions changed', String(asked.length)],
    ['of them failed', String(failed.length)],
    ['requests/s', (asked.length / seconds).toFixed(0)],
    ['p50, p95', `${at(0.5)}, ${at(0.95)}`],
    ['promotion took', `${Math.round(promoted)} ms`],
    ['rollback took', `${Math.round(rolledBack)} ms`],
    ...revisions.map(([id, some]): [string, string] => [`by ${id}`, String(some?.length ?? 0)]),
  ]
  const columns = [
    { title: 'UNDER LOAD', cell: ([what]: [string, string]) => what },
    { title: '', cell: ([, value]: [string, string]) => value, align: 'right' as const },
  ]
  for (const line of table(columns, rows, { width: terminal.columns() })) say(line)
  for (const words of new Set(failed)) terminal.note(`failed: ${words}`)
}

await demonstrateAndExit(() => demonstrate(readOptions()))
