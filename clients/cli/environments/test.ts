import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json, text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { lineTo } from '../chat/chat.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, Failure, usageFailure } from '../program/failure.ts'
import type { Output } from '../program/process.ts'
import {
  type CommonOptions,
  openSignedIn,
  type Session,
  type Texts,
  type World,
} from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { showRollouts, type VersionDetail } from './environments.ts'
import { checkFolder } from './push.ts'

const pythonClient = fileURLToPath(new URL('../../python/src', import.meta.url))

type Rollout = VersionDetail['rollouts'][number]
type TestOptions = CommonOptions & Texts<'deployment' | 'number' | 'python' | 'args'>

export const describeEnvironmentTest = describe({
  text: 'run rollouts of an RL environment on this machine, without sending anything',
  operands: { '[folder]': 'with environment.yaml; by default the current one' },
  options: {
    '--deployment <deployment>':
      'the model that the rollouts talk to; without one only the entry is loaded',
    '-n, --number <count>': 'how many rollouts; by default 4',
    '--args <json>': 'arguments of the rollouts, over those of environment.yaml',
    '--python <program>': 'a Python that has its packages; by default python3',
  },
  after: `
Whatever the environment prints goes to standard error. The exit code is 1 if a rollout failed.`,
})

export async function environmentTest(
  world: World,
  folder: string | undefined,
  { deployment, number = '4', python = 'python3', args, ...options }: TestOptions,
): Promise<ExitCode> {
  const { directory, entry, args_default, args_schema } = await checkFolder(world, folder)
  if (!/^[1-9]\d{0,2}$/.test(number)) throw usageFailure(`-n ${number}: give a number up to 999`)
  const given = await argsIn(args, args_schema, args_default)
  const order = { path: directory, entry, args: given }
  const { stderr } = world.process
  const program = { python, env: world.env, stderr }
  if (deployment === undefined) {
    const tried = await run({ ...program, order: { ...order, count: 0 } })
    world.process.stdout.write(tried.failure === null ? `${entry} was loaded\n` : '')
    return tried.failure === null ? exitCode.ok : fail(tried.failure)
  }
  const session = await openSignedIn(world, options)
  const line = await lineTo(session, deployment, {})
  const proxy = await openProxy(line)
  try {
    const count = Number(number)
    const env = { ...world.env, OPENAI_BASE_URL: proxy.url, OPENAI_API_KEY: proxy.key }
    const tried = await run({ python, env, stderr, order: { ...order, count, model: line.model } })
    if (tried.failure !== null) return fail(tried.failure)
    return showTried(session, tried.rollouts)
  } finally {
    proxy.close()
    await line.close().catch(() => {})
  }
}

function fail(failure: string): never {
  throw new Failure(exitCode.faulty, failure)
}

function showTried(session: Session, rollouts: readonly Rollout[]): ExitCode {
  const { terminal, isJson } = session
  if (isJson) terminal.data(toJson({ rollouts }))
  else showRollouts(session, rollouts)
  const rewards = rollouts.flatMap(({ reward }) => reward ?? [])
  if (!isJson && rewards.length > 0) {
    const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length
    terminal.note(`mean reward ${mean.toFixed(3)}`)
  }
  return rewards.length === rollouts.length ? exitCode.ok : exitCode.faulty
}

type Checked = Awaited<ReturnType<typeof checkFolder>>

async function argsIn(
  written: string | undefined,
  schema: Checked['args_schema'],
  defaults: Checked['args_default'],
) {
  const { argsFaults } = await import('../../../schemas/rl-environments/args.ts')
  const args = { ...defaults, ...(written === undefined ? {} : objectIn(written)) }
  const faults = argsFaults(schema, args)
  if (faults.length > 0) throw usageFailure(faults.join('; '))
  return args
}

function objectIn(written: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(written)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // As anything else that is no object.
  }
  throw usageFailure(`--args ${written}: give a JSON object`)
}

type Tried = { failure: string | null; rollouts: Rollout[] }
type Program = { python: string; env: NodeJS.ProcessEnv; order: object; stderr: Output }

async function run({ python, env, order, stderr }: Program): Promise<Tried> {
  const PYTHONPATH = [pythonClient, env.PYTHONPATH].filter(Boolean).join(':')
  const child = spawn(python, ['-m', 'forge.rollouts'], {
    env: { ...env, PYTHONPATH, FORGE_ROLLOUTS: JSON.stringify(order) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stderr.on('data', piece => stderr.write(String(piece)))
  const [said, code] = await Promise.all([text(child.stdout), endOf(child, python)])
  const reports = said
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as { event: string; error: string | null } & Rollout)
  const failed = reports.find(({ event }) => event === 'failed')
  const isBroken = failed !== undefined || code !== 0
  return {
    failure: isBroken ? (failed?.error ?? `${python} ended with exit code ${code}`) : null,
    rollouts: reports.flatMap(({ event, reward, error, duration_s }) =>
      event === 'rollout' ? { reward, error, duration_s } : [],
    ),
  }
}

const endOf = (child: ChildProcess, python: string): Promise<number | null> =>
  new Promise((resolve, reject) => {
    child.once('error', error =>
      reject(new Failure(exitCode.unavailable, `${python} cannot be started: ${error.message}`)),
    )
    child.once('close', resolve)
  })

type Line = Awaited<ReturnType<typeof lineTo>>

/** How long one request may take, in milliseconds. */
const requestMs = 300_000

/** Passes requests on under the name of the person, whose token the environment does not get. */
async function openProxy({ api, path }: Line) {
  const key = randomBytes(24).toString('hex')
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const answer = (status: number, body: string) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(body)
    }
    if (request.headers.authorization !== `Bearer ${key}`) return answer(401, '{}')
    const asked = await json(request)
    const within = AbortSignal.timeout(requestMs)
    try {
      const reply = await api.open(`${path}${request.url}`, {}, within, asked)
      answer(200, await reply.text())
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      answer(502, JSON.stringify({ error: { message } }))
    }
  }
  const server = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    key,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
