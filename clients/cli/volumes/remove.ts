import type { Static } from 'typebox'
import type { volumeDeleted } from '../../../schemas/volumes.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { type CommonOptions, type Flags, openSignedIn, type World } from '../program/session.ts'
import { ask } from '../terminal/ask.ts'
import { toJson } from '../terminal/harmless.ts'
import { oneVolume, pathOfVolume } from './named.ts'

type Deleted = Static<typeof volumeDeleted>

export const describeVolumeRemove = describe({
  text: 'delete a volume with its files, unless jobs that have not ended name it',
  operands: oneVolume,
  options: { '--dry-run': 'only list these jobs', '-y, --yes': 'do not ask' },
})

export async function volumeRemove(
  world: World,
  named: string,
  { dryRun, yes, ...options }: CommonOptions & Flags<'dryRun' | 'yes'>,
): Promise<ExitCode> {
  const { api, terminal, isJson, process } = await openSignedIn(world, options)
  const path = await pathOfVolume(api, named)
  if (dryRun) {
    const planned = await api.delete<Deleted>(`${path}?dry_run=true`)
    if (isJson) terminal.data(toJson(planned))
    else for (const run of planned.would_break) terminal.data(`${run.short_id} names it`)
    if (planned.would_break.length === 0) terminal.note('No job needs it')
    return exitCode.ok
  }
  const isSure = async () =>
    /^y(es)?$/i.test(
      (await ask(process, `Delete ${named} and its files? (yes/no) `, '--yes')).trim(),
    )
  if (!yes && !(await isSure())) return exitCode.interrupted
  const done = await api.delete<Deleted>(path)
  if (isJson) terminal.data(toJson(done))
  else terminal.note(`Deleted ${named}`)
  return exitCode.ok
}
