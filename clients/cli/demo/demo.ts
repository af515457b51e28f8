import { parseArgs } from 'node:util'
import type { Api } from '../api/client.ts'
import type { Admission } from '../api/records.ts'
import { specOfRecipe } from '../jobs/spec/job-spec.ts'
import type { Session } from '../program/session.ts'
import { lockOf } from '../recipes/catalogue.ts'
import { followRun } from '../runs/follow/follow.ts'
import { findRun, type Run } from '../runs/follow/run-events.ts'
import {
  commonArguments,
  demoFolder,
  demonstrateAndExit,
  readArguments,
  terminal,
  withServer,
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

await demonstrateAndExit(() => demonstrate(readOptions()))

function readOptions(): Options {
  const { keep, port, data, attach } = readArguments(usage, () =>
    parseArgs({
      options: {
        keep: { type: 'boolean', default: false },
        attach: { type: 'string' },
        ...commonArguments,
      },
    }),
  )
  return { keep, port, dataDir: data ?? demoFolder(process.env), attach: attach ?? null }
}

function demonstrate(options: Options): Promise<number> {
  return withServer(options, 'demo', async (server, api) => {
    const session: Session = {
      ...world,
      ...{ api, context: null, signedInUntil: null, isJson: false },
    }
    const run = options.attach ? await findRun(api, options.attach) : await submitDigits(api)
    const attach = (shortId: string) => howToComeBack(server, options, shortId)
    return followRun(session, run, { keys: [], full: false, attach })
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
