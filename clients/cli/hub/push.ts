import type { Static } from 'typebox'
import { type HubPushRow, type hubPushMade, isPushUnderWay } from '../../../schemas/hub-pushes.ts'
import { segment } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { list } from '../program/list.ts'
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

const path = '/api/hub-pushes'

export const describeHubPushes = describe({
  text: 'the artifacts that you send to the hub, the newest first',
})

export const hubPushes = list<HubPushRow>({
  path,
  shown: {
    columns: [
      { title: 'ID', cell: row => row.push_id },
      { title: 'TO', cell: row => row.repo, shrinks: true },
      { title: 'WHAT', cell: row => row.model ?? row.artifact_id ?? '-', drops: true },
      { title: 'STATE', cell: row => row.state },
      { title: 'DONE', cell: row => doneOf(row), align: 'right' },
      { title: 'COMMIT', cell: row => row.commit?.slice(0, 12) ?? '-' },
      { title: 'AT', cell: row => row.created_at, drops: true },
    ],
    none: 'Nothing was sent yet: forge hub push ARTIFACT ORG/NAME',
    isJsonByLine: true,
  },
})

export const describeHubPush = describe({
  text: 'send an artifact of kind hf_export to the hub, with a model card from its lineage',
  operands: {
    '<what>': 'the ID of an artifact, or a version of a model (NAME@ALIAS, NAME@3)',
    '<repo>': 'ORG/NAME at the hub; created if it is not there',
  },
  options: {
    '--public': 'a new repository is public; without this it is private',
    '--wait': 'until it is sent, or has failed (exit code 1)',
  },
  after: `
It is sent with your own token for the hub: forge secret set HF_TOKEN

Example:
  forge hub push math-tutor@production acme/math-tutor --wait`,
})

export async function hubPush(
  world: World,
  what: string,
  repo: string,
  { wait, public: isPublic, ...options }: CommonOptions & Flags<'wait' | 'public'>,
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const { api, terminal, isJson } = session
  const source = what.includes('@') ? { model: what } : { artifact_id: what }
  const made = await api.post<Static<typeof hubPushMade>>(path, {
    ...source,
    ...{ repo, private: isPublic !== true },
  })
  if (wait) {
    const found = await untilOver<HubPushRow>(session, `${path}/${segment(made.push_id)}`, {
      isOver: ({ state }) => !isPushUnderWay(state),
      line: one => `${one.repo}  ${one.state}  ${doneOf(one)}`,
    })
    return showEnd(session, found)
  }
  terminal.data(isJson ? toJson(made) : `${made.push_id}  ${made.repo}  ${made.state}`)
  return exitCode.ok
}

function showEnd({ terminal, isJson }: Session, found: HubPushRow): ExitCode {
  const { push_id, repo, state, commit, error } = found
  const end = commit === null ? `: ${error ?? ''}` : `@${commit}`
  terminal.data(isJson ? toJson(found) : `${push_id}  ${repo}  ${state}${end}`)
  return state === 'sent' ? exitCode.ok : exitCode.faulty
}
