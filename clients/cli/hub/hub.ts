import type { Static } from 'typebox'
import type { HubImportRow, hubImportMade } from '../../../schemas/hub-imports.ts'
import { segment } from '../api/client.ts'
import { everyPage } from '../api/every-page.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { list } from '../program/list.ts'
import { request } from '../program/request.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type World,
} from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { doneOf } from './done.ts'
import { untilOver } from './until-over.ts'

type Made = Static<typeof hubImportMade>

const path = '/api/hub-imports'
const pathOf = (id: string) => `${path}/${segment(id)}`

export const describeHubList = describe({
  text: 'the models that you import from the hub, the newest first',
})

export const hubList = list<HubImportRow>({
  path,
  shown: {
    columns: [
      { title: 'ID', cell: row => row.import_id },
      { title: 'MODEL', cell: row => `${row.repo}@${row.commit.slice(0, 12)}`, shrinks: true },
      { title: 'STATE', cell: row => row.state },
      { title: 'DONE', cell: row => doneOf(row), align: 'right' },
      { title: 'LICENSE', cell: row => row.license ?? '-', drops: true },
      { title: 'AT', cell: row => row.created_at, drops: true },
    ],
    none: 'No imports yet: forge hub import hub:ORG/NAME',
    isJsonByLine: true,
  },
})

export const describeHubImport = describe({
  text: 'import a model at the commit that a branch or tag names now; jobs name it in spec.model.ref',
  operands: { '<ref>': 'hub:ORG/NAME, or hub:ORG/NAME@REVISION' },
  options: { '--wait': 'until it is ready, or has failed (exit code 1)' },
  after: `
For a model that is private or gated, set your own token first: forge secret set HF_TOKEN

Example:
  forge hub import hub:Qwen/Qwen3-8B --wait`,
})

export async function hubImport(
  world: World,
  ref: string,
  { wait, ...options }: CommonOptions & Flags<'wait'>,
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const { api, terminal, isJson } = session
  const made = await api.post<Made>(path, { ref: ref.startsWith('hub:') ? ref : `hub:${ref}` })
  if (wait) {
    const found = await untilOver<HubImportRow>(session, pathOf(made.import_id), {
      isOver: ({ state }) => state === 'ready' || state === 'failed',
      line: one => `${one.ref}  ${one.state}  ${doneOf(one)}`,
    })
    return showEnd(session, found)
  }
  terminal.data(isJson ? toJson(made) : `${made.import_id}  ${made.ref}  ${made.state}`)
  return exitCode.ok
}

function showEnd({ terminal, isJson }: Session, found: HubImportRow): ExitCode {
  const { import_id, ref, state, error } = found
  const why = error === null ? '' : `: ${error}`
  terminal.data(isJson ? toJson(found) : `${import_id}  ${ref}  ${state}${why}`)
  return state === 'ready' ? exitCode.ok : exitCode.faulty
}

export const describeHubRemove = describe({
  text: 'cancel an import or a push, or delete the imported model, unless jobs that have not ended need it',
  operands: {
    '<import>': 'its ID, or hub:ORG/NAME@COMMIT, as forge hub ls shows it; or the ID of a push',
  },
})

export const hubRemove = request({
  send: async ({ api }, _, named = '') => {
    if (named.startsWith('hpsh_')) return api.delete(`/api/hub-pushes/${segment(named)}`)
    if (!named.startsWith('hub:')) return api.delete(pathOf(named))
    const rows = await everyPage<HubImportRow>(api, path)
    const found = rows.filter(one => one.ref.startsWith(named))
    const [only] = found
    if (only === undefined || found.length > 1)
      throw usageFailure(
        found.length === 0
          ? `You have no import of ${named}`
          : `${named} is not the only one; give its ID (forge hub ls)`,
      )
    return api.delete(pathOf(only.import_id))
  },
  note: (_, __, named) => `Removed ${named}`,
})
