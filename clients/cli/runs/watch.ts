import { describe, oneRun } from '../program/describe.ts'
import type { ExitCode } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type Texts, type World } from '../program/session.ts'
import { followRun } from './follow/follow.ts'
import { findRun } from './follow/run-events.ts'

type WatchOptions = CommonOptions & Texts<'keys'>

export const describeWatch = describe({
  text: 'watch a run: states, charts, log; q leaves it running',
  operands: oneRun,
  options: {
    '-k, --keys <a,b>': 'chart these metrics',
  },
})

export async function watch(world: World, id: string, options: WatchOptions): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const run = await findRun(session.api, id)
  const keys = options.keys === undefined ? [] : options.keys.split(',')
  return followRun(session, run, { keys, full: true })
}
