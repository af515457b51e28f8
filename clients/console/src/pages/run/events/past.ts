import type { RunEvent } from '../../../../../../schemas/runs/events.ts'

/** The state of the run after some of its events. Null: unknown at that point. */
export type Past = {
  state: string | null
  /** The reason for the state: why a job waits, or ended. */
  reason: string | null
  /** When it entered the state. */
  since: string | null
  attempt: number | null
  name: string | null
  tags: readonly string[]
  priority: number | null
  /** Executor and nodes of the newest attempt. */
  place: string | null
  /** The deadline for ending voluntarily after a request to stop. */
  deadline: string | null
  exitCode: number | null
  openAlerts: number
  artifacts: number
  isDeleted: boolean
}

type Facts = RunEvent['facts']

/** The state that an event leads to; events not listed leave it unchanged. */
const states: Readonly<Record<string, string>> = {
  'job.admitted': 'admitted',
  'job.held': 'held',
  'job.queued': 'queued',
  'job.scheduled': 'scheduled',
  'job.starting': 'starting',
  'job.running': 'running',
  'job.pause_requested': 'pausing',
  'job.paused': 'paused',
  'job.stop_requested': 'stopping',
  'job.succeeded': 'succeeded',
  'job.failed': 'failed',
  'job.stopped': 'stopped',
  'run.created': 'pending',
  'run.started': 'running',
  'run.succeeded': 'succeeded',
  'run.failed': 'failed',
  'run.abandoned': 'abandoned',
  'run.stopped': 'stopped',
}

/** Events that give a run its name, tags or priority, each with the name of the value. */
const naming = ['job.admitted', 'job.renamed', 'job.tagged', 'job.priority_changed', 'run.created']

/** Folds the events of a run, given in their order. */
export function pastOf(events: readonly RunEvent[]): Past {
  const past = stateOf(events)
  const alerts = new Set<unknown>()
  const artifacts = new Set<unknown>()
  for (const { type, facts } of events) {
    if (type === 'alert.fired' && facts.lasting === true) alerts.add(facts.alert_id)
    if (type === 'alert.resolved') alerts.delete(facts.alert_id)
    if (type === 'artifact.registered') artifacts.add(facts.artifact_id)
    if (type === 'artifact.deleted') artifacts.delete(facts.artifact_id)
  }
  return { ...past, openAlerts: alerts.size, artifacts: artifacts.size }
}

const unknown: Past = {
  state: null,
  reason: null,
  since: null,
  attempt: null,
  name: null,
  tags: [],
  priority: null,
  place: null,
  deadline: null,
  exitCode: null,
  openAlerts: 0,
  artifacts: 0,
  isDeleted: false,
}

function stateOf(events: readonly RunEvent[]): Past {
  const past = { ...unknown }
  for (const event of events) {
    const { type, facts } = event
    Object.assign(past, entered(event))
    if (naming.includes(type)) Object.assign(past, named(past, facts))
    if (type === 'job.scheduled')
      Object.assign(past, { place: executorPlaceOf(facts), exitCode: null })
    if (typeof facts.exit_code === 'number') past.exitCode = facts.exit_code
    if (type === 'run.deleted' || type === 'run.restored') past.isDeleted = type === 'run.deleted'
  }
  return past
}

function entered({ type, at, facts }: RunEvent): Partial<Past> {
  const state = states[type]
  if (state === undefined) return {}
  return {
    state,
    since: at,
    reason: factTextOf(facts.message) ?? factTextOf(facts.phase) ?? factTextOf(facts.reason),
    deadline: factTextOf(facts.deadline),
    ...(typeof facts.attempt === 'number' && facts.attempt > 0 && { attempt: facts.attempt }),
  }
}

const named = (past: Past, { name, tags, priority }: Facts): Partial<Past> => ({
  name: factTextOf(name) ?? past.name,
  tags: Array.isArray(tags) ? tags.map(String) : past.tags,
  priority: typeof priority === 'number' ? priority : past.priority,
})

const executorPlaceOf = ({ executor, nodes }: Facts): string =>
  [factTextOf(executor), Array.isArray(nodes) ? nodes.join(', ') : null].filter(Boolean).join(' · ')

const factTextOf = (value: Facts[string] | undefined): string | null =>
  typeof value === 'string' ? value : null

/** The events that contain a text, in the sentence or the type. */
export function eventsWith(events: readonly RunEvent[], text: string): readonly RunEvent[] {
  const sought = text.trim().toLowerCase()
  return sought === ''
    ? events
    : events.filter(({ summary, type }) => `${type} ${summary}`.toLowerCase().includes(sought))
}
