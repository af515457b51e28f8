import { segment } from '../api/client.ts'
import { describe, repeated } from '../program/describe.ts'
import { type ExitCode, usageFailure } from '../program/failure.ts'
import {
  type CommonOptions,
  openSignedIn,
  type Session,
  type Texts,
  type World,
} from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { eachRun } from './each-run.ts'

type SetOptions = CommonOptions & Texts<'priority' | 'name'> & { tag: string[]; tags: boolean }
type Changed = {
  run_id: string
  name: string
  tags: string[]
  priority: number
  state: string
  place: { position: number } | null
}

export const describeSet = describe({
  text: 'change the priority, name or tags of jobs',
  operands: { '<runs...>': 'run ids or short ids of jobs' },
  options: {
    '--priority <number>': 'from -100 to 100; higher starts first',
    '-n, --name <name>': 'name of the job',
    '-t, --tag <tag>': repeated('its tags from now on; may be repeated'),
    '--no-tags': 'remove all tags',
  },
})

export async function set(
  world: World,
  ids: readonly string[],
  options: SetOptions,
): Promise<ExitCode> {
  const body = bodyOf(options)
  const session = await openSignedIn(world, options)
  return eachRun(ids, 'changed', id => setOne(session, id, body))
}

async function setOne({ api, terminal, isJson }: Session, id: string, body: object): Promise<void> {
  const changed = await api.patch<Changed>(`/api/jobs/${segment(id)}`, body)
  if (isJson) return terminal.data(toJson(changed))
  const { run_id, name, priority, tags, state, place } = changed
  const where = place === null ? state : `${state}, place ${place.position}`
  const tagged = tags.length === 0 ? '' : `, tags ${tags.join(', ')}`
  terminal.data(`${run_id} ${where}; ${name}, priority ${priority}${tagged}`)
}

function bodyOf({ priority, name, tag, tags }: SetOptions): Record<string, unknown> {
  if (priority !== undefined && !/^-?\d{1,3}$/.test(priority))
    throw usageFailure(`--priority ${priority}: give a whole number from -100 to 100`)
  if (!tags && tag.length > 0) throw usageFailure('--tag and --no-tags cannot be combined')
  const body = {
    ...(priority !== undefined && { priority: Number(priority) }),
    ...(name !== undefined && { name }),
    ...((tag.length > 0 || !tags) && { tags: tag }),
  }
  if (Object.keys(body).length === 0)
    throw usageFailure('Nothing to change: give --priority, --name, --tag or --no-tags')
  return body
}
