import { ask } from '../terminal/ask.ts'
import { toJson } from '../terminal/harmless.ts'
import { describe } from './describe.ts'
import { type ExitCode, exitCode } from './failure.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type World,
} from './session.ts'

/** What deleting a version answers; `would_break`: what names it. */
type Deleted = { ref: string; would_break: { type: string; id: string }[] }
type RemoveOptions = CommonOptions & Flags<'dryRun' | 'force' | 'yes'>

export const versionRemoval = (version: string) =>
  describe({
    text: 'delete a version permanently, unless something uses it',
    operands: { '<version>': version },
    options: {
      '--dry-run': 'only list what the deletion would break',
      '--force': 'although runs that have ended, or other versions, name it',
      '-y, --yes': 'do not ask',
    },
  })

/** A command that deletes versions, after it has shown what that would break. */
export const removeVersion =
  (pathOfVersion: (ref: string) => string) =>
  async (
    world: World,
    ref: string,
    { dryRun, force, yes, ...options }: RemoveOptions,
  ): Promise<ExitCode> => {
    const session = await openSignedIn(world, options)
    const { api, terminal, isJson } = session
    const path = pathOfVersion(ref)
    const planned = await api.delete<Deleted>(`${path}?dry_run=true`)
    if (dryRun) return showPlan(session, planned)
    for (const { type, id } of planned.would_break) terminal.note(`${type} ${id} names it`)
    if (!yes && !(await isSure(session, ref))) return exitCode.interrupted
    const done = await api.delete<Deleted>(`${path}${force ? '?force=true' : ''}`)
    terminal.data(isJson ? toJson(done) : `${done.ref} was deleted`)
    return exitCode.ok
  }

function showPlan({ terminal, isJson }: Session, planned: Deleted): ExitCode {
  if (isJson) terminal.data(toJson(planned))
  else for (const { type, id } of planned.would_break) terminal.data(`${type} ${id} names it`)
  if (planned.would_break.length === 0) terminal.note('Nothing that you may read names it')
  return exitCode.ok
}

const isSure = async ({ process }: Session, ref: string): Promise<boolean> =>
  /^y(es)?$/i.test((await ask(process, `Delete ${ref} permanently? (yes/no) `, '--yes')).trim())
