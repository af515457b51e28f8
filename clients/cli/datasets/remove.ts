import type { Static } from 'typebox'
import type { datasetVersionDeleted } from '../../../schemas/datasets/datasets.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type World,
} from '../program/session.ts'
import { ask } from '../terminal/ask.ts'
import { toJson } from '../terminal/harmless.ts'
import { pathOfVersion } from './reference.ts'

type Deleted = Static<typeof datasetVersionDeleted>

export const describeDatasetRemove = describe({
  text: 'delete a version permanently, unless something uses it',
  operands: { '<version>': 'OWNER/NAME@N' },
  options: {
    '--dry-run': 'only list what the deletion would break',
    '--force': 'although runs that have ended, or other versions, name it',
    '-y, --yes': 'do not ask',
  },
})

export async function datasetRemove(
  world: World,
  ref: string,
  { dryRun, force, yes, ...options }: CommonOptions & Flags<'dryRun' | 'force' | 'yes'>,
): Promise<ExitCode> {
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
