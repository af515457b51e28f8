import { segment } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, Failure } from '../program/failure.ts'
import { pause } from '../program/pause.ts'
import { request } from '../program/request.ts'
import { type CommonOptions, openSignedIn, type Session, type World } from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Column, showTable } from '../terminal/table.ts'

type Projection = {
  name: string
  topic: string
  generation: number
  lag_records: number
  parked: number
  halted: string | null
}
type Rebuild = {
  state: string
  done_records: number
  total_records: number
  error: string | null
}
type Projections = { projections: Projection[]; rebuild: Rebuild }

export const describeProjections = describe({
  text: 'how far the read models are behind the event log',
})

export async function projections(world: World, options: CommonOptions): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const answer = await api.get<Projections>('/api/admin/projections')
  if (isJson) terminal.data(toJson(answer))
  else showTable(terminal, columns, answer.projections)
  return exitCode.ok
}

const columns: readonly Column<Projection>[] = [
  { title: 'PROJECTION', cell: row => row.name },
  { title: 'TOPIC', cell: row => row.topic },
  { title: 'GENERATION', cell: row => String(row.generation), align: 'right' },
  { title: 'BEHIND', cell: row => String(row.lag_records), align: 'right' },
  { title: 'PARKED', cell: row => String(row.parked), align: 'right' },
  { title: 'HALTED', cell: row => row.halted ?? 'no', shrinks: true },
]

type Rotated = { kid: string; replaced_kid: string; replaced_ends_at: string }

export const describeRotateKeys = describe({
  text: 'sign access tokens with a new key; nobody is signed out',
})

export const rotateKeys = request<Rotated>({
  send: ({ api }) => api.post<Rotated>('/api/admin/keys/rotate', undefined),
  data: ({ kid, replaced_kid, replaced_ends_at }) => [
    `${kid} signs from now on`,
    `${replaced_kid} is removed after ${replaced_ends_at}, with the last of its tokens`,
  ],
})

type RebuildOptions = CommonOptions & { wait: boolean }

export const describeRebuild = describe({
  text: 'rebuild the read models from the event log; reads continue meanwhile',
  operands: { '[name]': ['one projection; all of them otherwise', 'all'] },
  options: {
    '--no-wait': 'return as soon as it has started',
  },
})

export async function rebuild(
  world: World,
  name: string,
  options: RebuildOptions,
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const { api, terminal, isJson } = session
  const begun = await api.post(`/api/admin/projections/${segment(name)}/rebuild`, {})
  const ended = options.wait ? await waitForRebuild(session) : null
  if (isJson) terminal.data(toJson(ended ?? begun))
  if (ended?.state === 'failed')
    throw new Failure(exitCode.jobFailed, `The rebuild failed: ${ended.error ?? 'no reason given'}`)
  if (!isJson) terminal.data(ended ? `rebuilt from ${ended.done_records} records` : 'begun')
  return exitCode.ok
}

const pollMs = 300
const sayEveryMs = 2000

/** Reports progress on stderr: one updating line on a terminal, occasional lines elsewhere. */
async function waitForRebuild({ api, terminal, nowMs, process }: Session): Promise<Rebuild> {
  const { isTTY } = process.stderr
  let saidMs = nowMs()
  for (;;) {
    const { rebuild: status } = await api.get<Projections>('/api/admin/projections')
    if (isTTY) process.stderr.write(`\r\u001b[K${progressText(status)}`)
    if (status.state !== 'running') {
      if (isTTY) process.stderr.write('\n')
      return status
    }
    if (!isTTY && nowMs() - saidMs >= sayEveryMs) {
      saidMs = nowMs()
      terminal.note(progressText(status))
    }
    await pause(pollMs)
  }
}

const progressText = ({ state, done_records, total_records }: Rebuild) =>
  `rebuild ${state}: ${done_records} of ${total_records} records`
