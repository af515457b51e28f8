import { accessSync, constants, existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Admission } from './answers.ts'
import { type Api, createApi } from './api.ts'
import { lockOf } from './catalogue.ts'
import { contextsPath, signInTarget, updateContexts, withContext } from './contexts.ts'
import { admin, type DemoServer, startDemoServer } from './demo-server.ts'
import { exitCode, Failure, usageFailure } from './failure.ts'
import { followRun } from './follow/follow.ts'
import { findRun, type Run } from './follow/run-events.ts'
import { specOfRecipe } from './job-spec.ts'
import type { Session } from './session.ts'
import { processTerminal } from './terminal.ts'
import { version } from './version.ts'

const usage = `npm run demo [-- options]

Starts a server on this machine, trains a small network on handwritten digits and shows it.

  --keep           leave the server running afterwards
  --port PORT      instead of a free one
  --data DIR       where the server keeps its data, instead of .forge/demo here (or
                   ~/.local/share/forge/demo, if this folder cannot be written)
  --attach RUN     come back to a run that was left`

const recipe = 'digits'
const project = 'demo'
const terminal = processTerminal(process.env)

type Options = { keep: boolean; port: number | null; dataDir: string; attach: string | null }

try {
  process.exitCode = await demonstrate(readOptions(process.argv.slice(2)))
} catch (error) {
  if (!(error instanceof Failure)) throw error
  terminal.note(`${terminal.paintNote('red', 'error:')} ${error.message}`)
  for (const line of error.lines) terminal.note(`  ${line}`)
  process.exitCode = error.exitCode
}
process.exit()

function readOptions(args: string[]): Options {
  const { values } = parseKnown(args)
  if (values.help) {
    terminal.data(usage)
    process.exit(exitCode.ok)
  }
  if (values.port !== undefined && !/^\d{1,5}$/.test(values.port))
    throw usageFailure(`--port ${values.port}: give a number up to 65535`)
  return {
    keep: values.keep === true,
    port: values.port === undefined ? null : Number(values.port),
    dataDir: values.data ?? demoFolder(join(import.meta.dirname, '../..'), process.env),
    attach: values.attach ?? null,
  }
}

/** Beside the program, where `npm start` keeps its data too; in the person's own folder if that is read-only. */
function demoFolder(checkout: string, env: Record<string, string | undefined>): string {
  const here = join(checkout, '.forge/demo')
  const nearest = [here, join(checkout, '.forge'), checkout].find(folder => existsSync(folder))
  try {
    accessSync(nearest ?? checkout, constants.W_OK)
    return here
  } catch {
    return join(env.XDG_DATA_HOME || join(env.HOME || homedir(), '.local/share'), 'forge/demo')
  }
}

function parseKnown(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        keep: { type: 'boolean' },
        port: { type: 'string' },
        data: { type: 'string' },
        attach: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    throw usageFailure(error instanceof Error ? error.message : String(error), ...usage.split('\n'))
  }
}

async function demonstrate(options: Options): Promise<number> {
  const interrupted = new AbortController()
  const interrupt = () => interrupted.abort()
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  const server = await start(options, interrupted.signal)
  try {
    const api = await signIn(server, options.keep)
    const session: Session = {
      ...{ api, context: null, signedInUntil: null, terminal, isJson: false },
      ...{ env: process.env, nowMs: () => Date.now() },
    }
    const run = options.attach ? await findRun(api, options.attach) : await submitDigits(api)
    const attach = (shortId: string) => howToComeBack(server, options, shortId)
    return await followRun(session, run, { keys: [], full: false, attach })
  } finally {
    await finish(server, options.keep)
  }
}

async function start({ dataDir, port }: Options, signal: AbortSignal): Promise<DemoServer> {
  const began = performance.now()
  terminal.note('Starting a Forge server with a PostgreSQL of its own')
  const onWait = (reason: string) => terminal.note(terminal.paintNote('dim', `  ${reason}`))
  const server = await startDemoServer({ dataDir, port, onWait, signal })
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  terminal.note(
    server.isFound
      ? `  it is already running at ${server.url}`
      : `  ${server.url} after ${seconds} s`,
  )
  return server
}

async function signIn({ url, password }: DemoServer, isKept: boolean): Promise<Api> {
  const connect = (token: string | null) =>
    createApi({
      ...{ host: url, token, userAgent: `forge-demo/${version}` },
      onSlow: reason => terminal.note(terminal.paintNote('dim', reason)),
    })
  const login = { username: admin, password }
  const { token } = await connect(null).post<{ token: string }>('/api/auth/login', login)
  if (isKept) await remember(url, token)
  return connect(token)
}

/** Stores a context for the kept server; an existing sign-in stays the default. */
async function remember(url: string, token: string): Promise<void> {
  await updateContexts(contextsPath(process.env), stored => {
    const { host, context } = signInTarget({ host: url }, {}, stored)
    const added = withContext(stored, context, { host, username: admin, token })
    return { ...added, current: stored.current ?? context }
  })
}

async function submitDigits(api: Api): Promise<Run> {
  const lock = await lockOf(api, recipe)
  const spec = specOfRecipe({ lock, project, name: undefined })
  const admission = await api.post<Admission>('/api/jobs', spec, { creates: true })
  terminal.note(`Submitted the recipe ${recipe} as ${admission.short_id}`)
  return { ...admission, name: recipe, source: 'job' }
}

function howToComeBack(server: DemoServer, { keep }: Options, shortId: string): string {
  return keep
    ? `npm run -s forge -- watch ${shortId} --host ${server.url}`
    : `npm run demo -- --attach ${shortId} (it starts the server again)`
}

async function finish(server: DemoServer, isKept: boolean): Promise<void> {
  if (isKept) {
    terminal.note(
      `The server keeps running at ${server.url}: sign in as ${admin}, password ${server.password}`,
    )
    return
  }
  await server.stop()
  terminal.note('The server has stopped; npm run demo -- --keep leaves it running')
}
