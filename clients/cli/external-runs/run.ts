import { basename } from 'node:path'
import { projectNameOf } from '../../../schemas/runs/runs.ts'
import { contextsFor, targetOf } from '../login/contexts.ts'
import { describe, repeated } from '../program/describe.ts'
import {
  type CommonOptions,
  openSignedIn,
  type Session,
  type Texts,
  type World,
} from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { runChild } from './child.ts'
import { type Claiming, claimOnce, claimSometime } from './claim.ts'
import type { Address } from './ingest.ts'
import { type Beginning, printingOn, runReporting } from './reporting-run.ts'
import { newLocalId, openSpool, type Spool, unclaimed } from './spool.ts'

type RunOptions = CommonOptions & Texts<'project' | 'name'> & { tag: string[] }

export const describeRun = describe({
  text: 'run any command here as a new run: its output and reports go to Forge',
  operands: { '<command...>': 'the command and its arguments, best after --' },
  options: {
    '-p, --project <name>': 'FORGE_PROJECT, or else the name of this directory',
    '-n, --name <name>': 'name of the run; the command by default',
    '--tag <tag>': repeated('may be repeated'),
  },
  after: `
The exit code is the command's. If the server cannot be reached, the command still runs: its
reports are kept on disk, and the run is created when the server is back, or by forge sync. The last line
on stderr says how the run ended. With --json, events are printed there as JSON lines.

Example:
  forge run --project demo -- python train.py --lr 0.01`,
  isPassThrough: true,
})

export async function run(world: World, command: string[], options: RunOptions): Promise<number> {
  // Node resets ignored signals: without a listener, the first hangup ends this process.
  if (world.process.env.FORGE_HANGUP_IGNORED) world.process.on('SIGHUP', ignoreHangup)
  const session = await openSignedIn(world, options)
  const { env, terminal } = session
  const body = bodyOf(command, options, session)
  const localId = newLocalId(session.nowMs())
  const claim = { host: session.api.host, body }
  const claiming: Claiming = {
    claim,
    personToken: async () => targetOf(options, env, await contextsFor(options, env)).token,
    spool: openSpool(env, localId, claim),
  }
  const { isTemporary, root } = claiming.spool
  if (isTemporary)
    terminal.note(
      `forge: warning: the home directory cannot be written to; unsent reports wait in ${root} (FORGE_SPOOL_DIR selects another)`,
    )
  const never = new AbortController().signal
  const claimed = await claimOnce(claiming, never)
  if ('address' in claimed) {
    const { address, shortId } = claimed
    tellRun(session, address, shortId)
    return runReporting(session, existing(session, address), command)
  }
  terminal.note(`forge: ${claimed.why}; reports wait on disk until the run can be created`)
  const beginning = await later(session, claiming).catch((error: Error) => {
    terminal.note(
      `forge: reports cannot be kept either: ${error.message}; the command runs without reporting`,
    )
    return null
  })
  return beginning ? runReporting(session, beginning, command) : runOffline(session, command)
}

const ignoreHangup = () => {}

const bodyOf = (
  command: readonly string[],
  { project, name, tag }: RunOptions,
  { env, process }: World,
) => ({
  project: project ?? env.FORGE_PROJECT ?? projectOfDirectory(process.cwd()),
  name: name ?? nameOfCommand(command),
  tags: tag,
})

/** A run that was created before its command starts. */
function existing({ env }: Session, address: Address): Beginning {
  const spool = openSpool(env, address.run_id, null)
  const variables = { ...mlflowOf(address, env), ...variablesOf(address, spool) }
  return { address: Promise.resolve(address), spool, variables, givingUp: new AbortController() }
}

/** A run that is created while its command runs, or never. The command finds out by the note in the spool. */
async function later(session: Session, claiming: Claiming): Promise<Beginning> {
  const { claim, spool } = claiming
  const givingUp = new AbortController()
  const local = { endpoint: `${claim.host}/api/ingest`, run_id: spool.reportId, token: unclaimed }
  await spool.note(local)
  const address = claimSometime(claiming, givingUp.signal).then(async claimed => {
    if (claimed === null) return null
    await spool.note(claimed.address)
    tellRun(session, claimed.address, claimed.shortId)
    return claimed.address
  })
  return { address, spool, variables: variablesOf(local, spool), givingUp }
}

const variablesOf = (
  { endpoint, run_id, token }: Address,
  { isTemporary, root }: Spool,
): Record<string, string> => ({
  ...(isTemporary && { FORGE_SPOOL_DIR: root }),
  SERVICE_ENABLED: '1',
  SERVICE_ENDPOINT: endpoint,
  SERVICE_RUN_ID: run_id,
  SERVICE_TOKEN: token,
  // The output is sent from here; the Python client's `log_output` would send it twice.
  FORGE_OUTPUT_COLLECTED: '1',
})

/** Empty for people with their own MLflow server. MLflow's client does not wait for a run that is still to be created. */
const mlflowOf = (
  { endpoint, run_id, token }: Address,
  env: Session['env'],
): Record<string, string> =>
  env.MLFLOW_TRACKING_URI
    ? {}
    : {
        MLFLOW_TRACKING_URI: `${endpoint}/mlflow`,
        MLFLOW_TRACKING_TOKEN: token,
        MLFLOW_RUN_ID: run_id,
      }

/** On stderr: stdout belongs to the command. */
function tellRun({ terminal, api, isJson }: Session, { run_id }: Address, short_id: string): void {
  const url = `${api.host}/runs/${run_id}`
  terminal.note(
    isJson ? toJson({ type: 'run', run_id, short_id, url }) : `forge: ${short_id}  ${url}`,
  )
}

/** `python train.py --lr 1` is called train.py. */
export function nameOfCommand(command: readonly string[]): string {
  const script = command.find((word, at) => at > 0 && /\.\w+$/.test(word) && !word.startsWith('-'))
  return basename(script ?? command[0] ?? 'run').slice(0, 200)
}

const projectOfDirectory = (path: string): string => projectNameOf(basename(path)) || 'default'

async function runOffline(session: Session, command: readonly string[]): Promise<number> {
  const print = printingOn(session)
  const end = await runChild(session.process, {
    command,
    env: { ...session.env, SERVICE_ENABLED: '0' },
    onOutput: (stream, bytes) => print[stream](bytes),
  })
  if (end.fault) await print.stderr(Buffer.from(`${end.fault}\n`))
  return end.exitCode
}
