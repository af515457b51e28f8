import { describe } from '../program/describe.ts'
import { type ExitCode, usageFailure } from '../program/failure.ts'
import { openSignedIn, type Texts, type World } from '../program/session.ts'
import { type LogsOptions, logOptions, logs } from '../runs/logs.ts'
import { findDeployment, oneDeployment, type Revision, readRevisions, revisionOf } from './find.ts'

type Options = LogsOptions & Texts<'revision' | 'engine'>

export const describeDeployLogs = describe({
  text: 'print the log of an engine: the newest one of the newest revision',
  operands: oneDeployment,
  options: {
    '--revision <revision>': 'number or id of another revision',
    '--engine <run>': 'another of its engines, by its run',
    ...logOptions,
  },
})

export async function deployLogs(
  world: World,
  named: string,
  { revision, engine, ...options }: Options,
): Promise<ExitCode> {
  const { api, terminal } = await openSignedIn(world, options)
  const { deployment_id } = await findDeployment(api, named)
  const revisions = await readRevisions(api, deployment_id)
  const wanted = revision === undefined ? revisions[0] : revisionOf(revisions, revision)
  const runs = runsOf(wanted)
  if (engine !== undefined && !runs.includes(engine))
    throw usageFailure(`Revision ${wanted?.number} has no engine ${engine}`, ...runs)
  const run = engine ?? runs[0]
  if (run === undefined)
    throw usageFailure(
      `Forge runs no engine of revision ${wanted?.number}`,
      ...(wanted?.source.kind === 'external'
        ? ['it runs elsewhere, and so its log is there']
        : [`hint: forge deploy show ${named} shows what it is waiting for`]),
    )
  const others = runs.filter(one => one !== run)
  if (others.length > 0)
    terminal.note(`revision ${wanted?.number}, ${run}; others: ${others.join(', ')}`)
  return logs(world, run, options)
}

const runsOf = (revision: Revision | undefined): string[] =>
  (revision?.engines ?? []).flatMap(({ run_id }) => run_id ?? [])
