import type { Command } from 'commander'
import type { ExitCode } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type World } from '../program/session.ts'
import { followRun } from './follow/follow.ts'
import { findRun } from './follow/run-events.ts'

type WatchOptions = CommonOptions & { keys?: string }

export function describeWatch(command: Command): Command {
  return command
    .argument('<run>', 'run id or short id')
    .description('watch a run: states, charts, log; q leaves it running')
    .option('-k, --keys <a,b>', 'chart these metrics')
}

export async function watch(world: World, id: string, options: WatchOptions): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const run = await findRun(session.api, id)
  const keys = options.keys === undefined ? [] : options.keys.split(',')
  return followRun(session, run, { keys, full: true })
}
