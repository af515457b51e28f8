import { parseArgs } from 'node:util'
import type { Api } from '../api/client.ts'
import type { Admission } from '../api/records.ts'
import { specOfRecipe } from '../jobs/spec/job-spec.ts'
import { exitCode, usageFailure } from '../program/failure.ts'
import type { Session } from '../program/session.ts'
import { lockOf } from '../recipes/catalogue.ts'
import { followRun } from '../runs/follow/follow.ts'
import { findRun, type Run } from '../runs/follow/run-events.ts'
import {
  demoFolder,
  demonstrateAndExit,
  finish,
  signIn,
  startServer,
  terminal,
  world,
} from './parts.ts'
import type { DemoServer } from './server.ts'

const usage = `npm run demo [-- options]

Starts a server on this machine, trains a small network on handwritten digits and shows it.

  --keep           leave the server running afterwards
  --port PORT      instead of a free one
  --data DIR       where the server keeps its data, instead of .forge/demo here (or
                   ~/.local/share/forge/demo, if this folder cannot be written)
  --attach RUN     come back to a run that was left`

const recipe = 'digits'
const project = 'demo'

type Options = { keep: boolean; port: number | null; dataDir: string; attach: string | null }

await demonstrateAndExit(() => demonstrate(readOptions(process.argv.slice(2))))

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
    dataDir: values.data ?? demoFolder(process.env),
    attach: values.attach ?? null,
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
  const server = await startServer(options, interrupted.signal)
  try {
    const api = await signIn(server, options.keep)
    const session: Session = {
      ...world,
      ...{ api, context: null, signedInUntil: null, isJson: false },
    }
    const run = options.attach ? await findRun(api, options.attach) : await submitDigits(api)
    const attach = (shortId: string) => howToComeBack(server, options, shortId)
    return await followRun(session, run, { keys: [], full: false, attach })
  } finally {
    await finish(server, options.keep, 'demo')
  }
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
