import { segment } from '../api/client.ts'
import { eachRun } from '../jobs/each-run.ts'
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

type SetOptions = CommonOptions &
  Texts<'priority' | 'name' | 'notes'> & {
    tag: string[]
    tags: boolean
    star?: boolean
    archive?: boolean
  }
type Described = {
  run_id: string
  name: string | null
  tags: string[]
  notes: string
  starred: boolean
  archived: boolean
}
type Prioritized = {
  run_id: string
  name: string
  tags: string[]
  priority: number
  state: string
  place: { position: number } | null
}
type Wanted = Record<'job' | 'run', Record<string, unknown>>

export const describeSet = describe({
  text: 'rename, tag, annotate, star or archive runs, or change the priority of jobs',
  operands: { '<runs...>': 'run ids or short ids' },
  options: {
    '-n, --name <name>': 'name of the run',
    '-t, --tag <tag>': repeated('its tags from now on; may be repeated'),
    '--no-tags': 'remove all tags',
    '--notes <text>': 'its notes from now on, as Markdown; forge note edits them',
    '--star': 'star it',
    '--no-star': 'remove the star',
    '--archive': 'keep it out of lists',
    '--no-archive': 'take it out of the archive',
    '--priority <number>': 'of a job, from -100 to 100; higher starts first',
  },
})

export async function set(
  world: World,
  ids: readonly string[],
  options: SetOptions,
): Promise<ExitCode> {
  const wanted = wantedOf(options)
  const session = await openSignedIn(world, options)
  return eachRun(ids, 'changed', id => setOne(session, id, wanted))
}

async function setOne({ api, terminal, isJson }: Session, id: string, wanted: Wanted) {
  const patch = <T>(path: string, body: object) =>
    Object.keys(body).length === 0 ? null : api.patch<T>(path, body)
  const job = await patch<Prioritized>(`/api/jobs/${segment(id)}`, wanted.job)
  const run = await patch<Described>(`/api/runs/${segment(id)}`, wanted.run)
  if (isJson) return terminal.data(toJson({ ...job, ...run }))
  terminal.data([...jobWords(job), ...runWords(run, job)].join(', '))
}

function jobWords(job: Prioritized | null): string[] {
  if (job === null) return []
  const { run_id, state, place, priority } = job
  return [
    `${run_id} ${state}`,
    ...(place === null ? [] : [`place ${place.position}`]),
    `priority ${priority}`,
  ]
}

function runWords(run: Described | null, job: Prioritized | null): string[] {
  if (run === null) return []
  const { run_id, name, tags, notes, starred, archived } = run
  return [
    ...(job === null ? [run_id] : []),
    ...(name === null ? [] : [name]),
    ...(tags.length === 0 ? [] : [`tags ${tags.join(' ')}`]),
    ...(notes === '' ? [] : ['with notes']),
    ...(starred ? ['starred'] : []),
    ...(archived ? ['archived'] : []),
  ]
}

function wantedOf({ priority, name, tag, tags, notes, star, archive }: SetOptions): Wanted {
  if (priority !== undefined && !/^-?\d{1,3}$/.test(priority))
    throw usageFailure(`--priority ${priority}: give a whole number from -100 to 100`)
  if (!tags && tag.length > 0) throw usageFailure('--tag and --no-tags cannot be combined')
  const job = given({ priority: priority && Number(priority) })
  const newTags = tag.length > 0 || !tags ? tag : undefined
  const run = given({ name, tags: newTags, notes, starred: star, archived: archive })
  if (Object.keys({ ...job, ...run }).length === 0)
    throw usageFailure(
      'Nothing to change: give --name, --tag, --no-tags, --notes, --star, --archive or --priority',
    )
  return { job, run }
}

const given = (values: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
