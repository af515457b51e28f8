import type { Static } from 'typebox'
import type { ReflowDetail, reflowRunStarted } from '../../../schemas/reflows.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { pause } from '../program/pause.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type Texts,
  type World,
} from '../program/session.ts'
import { counted } from '../terminal/amounts.ts'
import { toJson } from '../terminal/harmless.ts'
import { oneReflow, pathOfReflow } from './reflows.ts'

export const describeReflowRun = describe({
  text: 'fire a reflow: make the next version of its dataset, if there is anything to take',
  operands: oneReflow,
  options: {
    '-w, --window <name>': 'what it is for, such as 2026-11-27; a window is fired once',
    '--wait': 'until the version is made, or the firing has failed (exit code 1)',
  },
})

type Begun = Static<typeof reflowRunStarted>

export async function reflowRun(
  world: World,
  reflow: string,
  { window, wait, ...options }: CommonOptions & Texts<'window'> & Flags<'wait'>,
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const { api, terminal, isJson } = session
  const body = { ...(window !== undefined && { window }) }
  const begun = await api.post<Begun>(`${pathOfReflow(reflow)}/run`, body)
  if (wait) return untilEnded(session, begun)
  terminal.data(isJson ? toJson(begun) : String(begun.firing))
  if (!begun.created && !isJson) terminal.note(`It had begun before: ${begun.state}`)
  return exitCode.ok
}

/** However long it takes; Ctrl-C ends the waiting, not the firing. */
async function untilEnded(session: Session, { reflow_id, firing }: Begun): Promise<ExitCode> {
  for (;;) {
    const { fired } = await session.api.get<ReflowDetail>(pathOfReflow(reflow_id))
    const found = fired.find(one => one.firing === firing)
    if (found && found.state !== 'running') return showEnd(session, found)
    await pause(1000)
  }
}

function showEnd({ terminal, isJson }: Session, found: ReflowDetail['fired'][number]): ExitCode {
  const { ref, state, reason, counts } = found
  if (isJson) terminal.data(toJson(found))
  else if (ref !== null) terminal.data(ref)
  terminal.note(reason ?? `${state}: ${counted(counts?.taken ?? 0, 'row')} taken`)
  return state === 'failed' ? exitCode.faulty : exitCode.ok
}
