import { segment } from '../api/client.ts'
import { describe, oneRun } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { sayMore } from '../program/list.ts'
import { request } from '../program/request.ts'
import { type CommonOptions, openSignedIn, type World } from '../program/session.ts'
import { counted } from '../terminal/amounts.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Column, showTable } from '../terminal/table.ts'
import { type Wait, waitText } from '../terminal/waits.ts'

type Eta = Wait | null
type Row = {
  position: number | null
  short_id: string
  name: string
  owner: string
  reason: string | null
  gpus: number
  profile: string
  priority: number
  submitted_at: string
  eta_s: Eta
}
type Queue = {
  paused: { reason: string | null } | null
  draining: { engine: string; reason: string | null }[]
  waiting: { jobs: number; gpus: number; hidden: number }
  jobs: Row[]
}
type Explanation = {
  short_id: string
  state: string
  position: number | null
  reason: string | null
  detail: string
  eta_s: Eta
  ahead: {
    jobs: number
    gpus: number
    hidden: number
    first: { short_id: string; owner: string; gpus: number }[]
  }
  sooner: { detail: string }[]
}

type ListOptions = CommonOptions & { limit: string }

export const describeQueue = describe({
  text: 'the waiting jobs, in the order in which they will start',
  options: {
    '-l, --limit <count>': ['at most this many', '50'],
  },
})

export async function queueList(world: World, options: ListOptions): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const { api, terminal, isJson } = session
  const queue = await api.get<Queue>('/api/queue', { limit: options.limit })
  const { jobs, hidden } = queue.waiting
  const more = () => {
    if (queue.jobs.length < jobs - hidden) sayMore(session, queue.jobs.length)
    return exitCode.ok
  }
  if (isJson) {
    terminal.data(toJson(queue))
    return more()
  }
  for (const line of closedLines(queue)) terminal.note(line)
  if (queue.jobs.length > 0) showTable(terminal, columns, queue.jobs)
  if (jobs === 0) terminal.note('No job waits')
  if (hidden > 0) terminal.note(`${hidden} of ${jobs} waiting jobs are not yours to see`)
  return more()
}

export const because = (reason: string | null) => (reason === null ? '' : `: ${reason}`)

const closedLines = ({ paused, draining }: Queue): string[] => [
  ...(paused ? [`The queue is paused${because(paused.reason)}`] : []),
  ...draining.map(({ engine, reason }) => `${engine} is being drained${because(reason)}`),
]

const columns: Column<Row>[] = [
  { title: 'PLACE', cell: row => String(row.position ?? '-'), align: 'right' },
  { title: 'RUN', cell: row => row.short_id },
  { title: 'REASON', cell: row => row.reason ?? '' },
  { title: 'STARTS', cell: row => (row.eta_s ? waitText(row.eta_s) : '') },
  { title: 'GPUS', cell: row => String(row.gpus), align: 'right' },
  { title: 'NAME', cell: row => row.name, shrinks: true },
  { title: 'PRIORITY', cell: row => String(row.priority), align: 'right', drops: true },
  { title: 'PROFILE', cell: row => row.profile, shrinks: true, drops: true },
  { title: 'OWNER', cell: row => row.owner, shrinks: true },
]

export const describeQueueExplain = describe({
  text: 'why a job waits, which jobs are ahead, and how it could start sooner',
  operands: oneRun,
})

export const queueExplain = request<Explanation>({
  send: ({ api }, _, id) => api.get<Explanation>(`/api/queue/${segment(id)}`),
  data: explanationLines,
})

function explanationLines(explanation: Explanation): string[] {
  const { short_id, position, detail, ahead, eta_s, sooner } = explanation
  const place = position === null ? '' : `, place ${position}`
  const hidden = ahead.hidden > 0 ? `, ${ahead.hidden} of them not yours to see` : ''
  return [
    `${short_id}: ${explanation.state}${place}`,
    detail,
    ...(ahead.jobs > 0
      ? [`Ahead of it: ${counted(ahead.jobs, 'job')} with ${counted(ahead.gpus, 'GPU')}${hidden}`]
      : []),
    ...ahead.first.map(
      other => `  ${other.short_id}  ${counted(other.gpus, 'GPU')}  ${other.owner}`,
    ),
    ...(eta_s ? [`Expected to start ${waitText(eta_s)}`] : []),
    ...(sooner.length > 0 ? ['What would start it sooner:'] : []),
    ...sooner.map(way => `  ${way.detail}`),
  ]
}
