import { basename } from 'node:path'
import type { Command } from 'commander'
import { runChild } from '../external/child.ts'
import { type Created, runReporting } from '../external/reporting-run.ts'
import { exitCode, Failure } from '../failure.ts'
import { type CommonOptions, openSignedIn, type Session, type World } from '../session.ts'

type RunOptions = CommonOptions & { project?: string; name?: string; tag: string[] }

const collect = (value: string, before: string[]) => [...before, value]

export function describeRun(command: Command): Command {
  return command
    .argument('<command...>', 'the command and its arguments, best after --')
    .description('run any command here as a run of its own: its output and reports go to Forge')
    .option('-p, --project <name>', 'FORGE_PROJECT, or else the name of this directory')
    .option('-n, --name <name>', 'name of the run; the command by default')
    .option('--tag <tag>', 'may be repeated', collect, [])
    .passThroughOptions()
    .addHelpText(
      'after',
      `
The exit code is the command's. When the server cannot be reached the command runs all the same,
with SERVICE_ENABLED=0. With --json, what happens is told on stderr as JSON lines.

Example:
  forge run --project demo -- python train.py --lr 0.01`,
    )
}

export async function run(world: World, command: string[], options: RunOptions): Promise<number> {
  const session = await openSignedIn(world, options)
  const created = await createRun(session, command, options)
  return created ? runReporting(session, created, command) : runOffline(session, command)
}

async function createRun(
  { api, terminal, env }: Session,
  command: readonly string[],
  { project, name, tag }: RunOptions,
): Promise<Created | null> {
  const body = {
    project: project ?? env.FORGE_PROJECT ?? projectOfDirectory(process.cwd()),
    name: name ?? nameOf(command),
    tags: tag,
  }
  try {
    return await api.post<Created>('/api/runs', body, { creates: true })
  } catch (error) {
    if (!(error instanceof Failure) || error.exitCode !== exitCode.unavailable) throw error
    terminal.note(`forge: ${error.message}; the command runs without reporting`)
    return null
  }
}

/** `python train.py --lr 1` is called train.py. */
export function nameOf(command: readonly string[]): string {
  const script = command.find((word, at) => at > 0 && /\.\w+$/.test(word) && !word.startsWith('-'))
  return basename(script ?? command[0] ?? 'run').slice(0, 200)
}

export function projectOfDirectory(path: string): string {
  const name = basename(path)
    .toLowerCase()
    .replaceAll(/[^a-z0-9_.-]+/g, '-')
    .replace(/^[^a-z0-9]+|^run_/, '')
    .slice(0, 63)
  return name === '' ? 'default' : name
}

async function runOffline({ env }: Session, command: readonly string[]): Promise<number> {
  const end = await runChild({
    command,
    env: { ...env, SERVICE_ENABLED: '0' },
    onOutput: (stream, bytes) => void process[stream].write(bytes),
  })
  if (end.fault) process.stderr.write(`${end.fault}\n`)
  return end.exitCode
}
