import type { PlanCreated } from '../../../schemas/plans.ts'
import { type Api, segment } from '../api/client.ts'
import type { Gate, JobDetail, JobRow } from '../api/records.ts'
import { notesOnPlan } from '../plans/plans.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type World,
} from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Wait, waitText } from '../terminal/waits.ts'
import { padEnd, wrapped } from '../terminal/width.ts'
import { changesBetween, type SpecChange } from './spec/changes.ts'
import type { SpecTree } from './spec/job-spec.ts'
import { placesOfGate } from './spec/positions.ts'
import {
  explained,
  originIn,
  readWritten,
  type Source,
  type SpecOptions,
  specOf,
  specOptions,
  type Written,
} from './spec/source.ts'

type PlanOptions = CommonOptions & SpecOptions & Flags<'save'>

type AskedGate = Gate & { data?: unknown; hint?: string }
type Preflight = {
  ok: boolean
  gates: AskedGate[]
  warnings: { code: string; detail: string }[]
  estimate: { gpu_hours: string; cost: string; currency: string; basis: string } | null
  queue: {
    position: number
    ahead_gpus: number
    reason: string | null
    eta_s: Wait | null
  } | null
}
/** The newest job of the same name in the project, and the differences from it. */
type Since = { run_id: string; short_id: string; changes: SpecChange[] }

export const describePlan = describe({
  text: 'check a job against all gates without submitting it; exit code 3 if one refuses',
  options: {
    ...specOptions,
    '--save': 'keep it for a week, to be looked at and submitted; the file may have stages',
  },
  after: `
Examples:
  forge plan -f job.yaml
  forge plan --recipe digits --project demo --gpus 8
  forge plan -f stages.yaml --save
  forge plan submit pln_01J…`,
})

export async function plan(world: World, options: PlanOptions): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const { api, terminal, isJson } = session
  const written = await readWritten(session.process, options)
  if (options.save) return savePlan(session, written, options)
  if (written && 'stages' in written.tree)
    throw usageFailure(`${written.name} has stages: make a plan of it with --save`)
  const source = { spec: await specOf(api, written?.tree ?? null, options), written, options }
  const [asked, since] = await Promise.all([
    api.post<Preflight>('/api/jobs/preflight', source.spec).catch(async error => {
      throw await explained(api, source, error)
    }),
    readSince(api, source.spec),
  ])
  if (isJson) terminal.data(toJson({ ...asked, compared_with: since }))
  else for (const line of planLines(session, asked, { since, source })) terminal.data(line)
  return asked.ok ? exitCode.ok : exitCode.refused
}

/** A file with stages is the plan itself; the options describe one job. */
async function savePlan(
  session: Session,
  written: Written | null,
  options: PlanOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = session
  const isStaged = written !== null && 'stages' in written.tree
  const spec = isStaged ? null : await specOf(api, written?.tree ?? null, options)
  const made = await api
    .post<PlanCreated>('/api/plans', spec ? { spec } : written?.tree, { creates: true })
    .catch(async error => {
      throw spec ? await explained(api, { spec, written, options }, error) : error
    })
  terminal.data(isJson ? toJson(made) : made.plan_id)
  if (!isJson) for (const line of notesOnPlan(made)) terminal.note(line)
  return made.state === 'draft' ? exitCode.refused : exitCode.ok
}

/** A project or a name that the server would refuse finds nothing. */
async function readSince(api: Api, spec: SpecTree): Promise<Since | null> {
  const { name, project } = (spec.metadata ?? {}) as Record<string, unknown>
  if (typeof name !== 'string' || typeof project !== 'string') return null
  const rows = await api
    .get<JobRow[]>('/api/jobs', { project, q: name.slice(0, 200), limit: 100 })
    .catch(() => [])
  const last = rows.find(row => row.name === name)
  if (!last) return null
  const { run_id, short_id } = last
  const job = await api.find<JobDetail & { spec: SpecTree }>(`/api/jobs/${segment(run_id)}`)
  return job && { run_id, short_id, changes: changesBetween(job.spec, spec) }
}

function planLines(
  session: Session,
  asked: Preflight,
  { since, source }: { since: Since | null; source: Source },
): string[] {
  const { terminal } = session
  const width = terminal.columns()
  const refusing = asked.gates.filter(gate => !gate.ok).map(gate => gate.gate)
  return [
    ...gateLines(session, asked.gates, source),
    ...asked.warnings.flatMap(({ detail }) =>
      wrapped(`${terminal.paint('yellow', '!')} ${detail}`, width, '  '),
    ),
    `${terminal.paint('dim', 'estimate')}  ${estimateText(asked)}`,
    ...(asked.queue ? [`${terminal.paint('dim', 'queue')}     ${queueText(asked.queue)}`] : []),
    ...sinceLines(session, since),
    refusing.length === 0
      ? terminal.paint('green', 'It would be admitted.')
      : terminal.paint('red', `It would be refused by ${refusing.join(', ')}.`),
  ]
}

function gateLines({ terminal }: Session, gates: readonly AskedGate[], source: Source): string[] {
  const width = Math.max(...gates.map(({ gate }) => gate.length))
  const origin = originIn(source)
  return gates.flatMap(({ gate, ok, detail, hint, data }) => {
    const mark = ok ? terminal.paint('green', '✓') : terminal.paint('red', '✗')
    const indent = ' '.repeat(width + 4)
    const fitted = (line: string) => wrapped(line, terminal.columns(), indent)
    const places = ok ? [] : placesOfGate(origin, gate, data)
    const below = [
      ...places.map(place => `at ${place}`),
      ...changesIn(data).map(change => changeText(change)),
      ...(!ok && hint ? [`→ ${hint}`] : []),
    ]
    return [
      `${mark} ${padEnd(gate, width)}  ${detail}`,
      ...below.map(line => `${indent}${line}`),
    ].flatMap(fitted)
  })
}

function estimateText({ estimate }: Preflight): string {
  if (estimate === null)
    return 'none yet: no run of the recipe has succeeded, and spec.limits.max_duration_s is not set'
  const { gpu_hours, cost, currency, basis } = estimate
  return `${gpu_hours} GPU hours, ${cost} ${currency} (${basis})`
}

function queueText({ position, ahead_gpus, eta_s }: NonNullable<Preflight['queue']>): string {
  const ahead = ahead_gpus === 0 ? '' : `, ${ahead_gpus} GPUs ahead`
  const eta = eta_s ? `, starts ${waitText(eta_s)}` : ''
  return `place ${position}${ahead}${eta}`
}

function sinceLines({ terminal }: Session, since: Since | null): string[] {
  if (since === null) return []
  const { short_id, changes } = since
  if (changes.length === 0) return [`the same as ${short_id}`]
  const width = Math.max(...changes.map(({ path }) => path.length))
  return [
    terminal.paint('dim', `changed since ${short_id}`),
    ...changes.map(change => `  ${changeText(change, width)}`),
  ]
}

/** What a plugin changed in the job. */
const changesIn = (data: unknown): SpecChange[] =>
  typeof data === 'object' && data !== null && 'changes' in data && Array.isArray(data.changes)
    ? data.changes
    : []

const changeText = ({ path, from, to }: SpecChange, width = 0): string =>
  `${padEnd(path, width)}  ${valueText(from)} → ${valueText(to)}`

const valueText = (value: unknown) => (value === undefined ? 'none' : JSON.stringify(value))
