import type { DeploymentEvent } from '../events/deployments.ts'
import type { Event } from '../events/event.ts'
import type { JobEvent } from '../events/jobs.ts'
import type { PlaygroundEvent } from '../events/playground.ts'
import type { EngineEvent, QueueEvent } from '../events/queue.ts'
import type { UserEvent } from '../events/users.ts'

/** The announcement to other parts of the system after an event is committed; `none` if nobody needs to know at once. */
export type Announcement =
  /** Sessions of a person ended, or their rights changed: caches of access are stale. */
  | 'access'
  /** Gateways serve something else. */
  | 'serving'
  /** The order or the length of the queue changed: executors look for work, and the queue is read again. */
  | 'queue'
  /** A job joined the queue: executors look for work, and a short queue is read again. */
  | 'submit'
  /** The executor has something to do, but the order of the queue stays. */
  | 'executor'
  | 'none'

type Announced = {
  [T in (
    | UserEvent
    | DeploymentEvent
    | PlaygroundEvent
    | JobEvent
    | QueueEvent
    | EngineEvent
  )['type']]: Announcement
}

/**
 * Total: if an event of these aggregates is missing here, the code does not compile. test/command-api/announcements.test.ts
 * checks that events of other aggregates change neither access nor what gateways serve.
 */
export const announced: Announced = {
  'user.created': 'none',
  'user.identity_linked': 'none',
  'user.login': 'none',
  'user.profile_changed': 'none',
  'user.role_kept': 'none',
  'user.enabled': 'access',
  'user.disabled': 'access',
  'user.role_changed': 'access',
  'user.password_changed': 'access',
  'user.password_reset': 'access',
  'user.logout': 'access',
  'user.session_revoked': 'access',
  'user.session_withdrawn': 'access',
  'user.refresh_reused': 'access',
  'deployment.created': 'serving',
  'deployment.changed': 'serving',
  'deployment.autoscaling_changed': 'serving',
  'deployment.revision_created': 'serving',
  'deployment.revision_progressed': 'serving',
  'deployment.revision_ready': 'serving',
  'deployment.revision_failed': 'serving',
  'deployment.revision_retired': 'serving',
  'deployment.promoted': 'serving',
  'deployment.rolled_back': 'serving',
  'deployment.state_changed': 'serving',
  'deployment.suspended': 'serving',
  'deployment.deleted': 'serving',
  'deployment.token_created': 'serving',
  'deployment.token_revoked': 'serving',
  'playground.opened': 'serving',
  'playground.ended': 'serving',
  'job.admitted': 'submit',
  'job.held': 'executor',
  'job.queued': 'executor',
  'job.resumed': 'queue',
  'job.pause_requested': 'queue',
  'job.stop_requested': 'queue',
  'job.priority_changed': 'queue',
  'job.paused': 'queue',
  'job.stopped': 'queue',
  'job.failed': 'executor',
  'job.succeeded': 'executor',
  'job.running': 'executor',
  // The executor itself decides these.
  'job.scheduled': 'none',
  'job.checkpoint_chosen': 'none',
  'job.placed': 'none',
  'job.starting': 'none',
  'job.preempted': 'none',
  'job.unreachable': 'none',
  'job.recovered': 'none',
  'job.retried': 'none',
  'job.exited': 'none',
  'job.repriced': 'none',
  'job.renamed': 'none',
  'job.tagged': 'none',
  'queue.paused': 'queue',
  'queue.resumed': 'queue',
  'engine.drained': 'queue',
  'engine.undrained': 'queue',
}

export type Listeners = {
  access: (username: string) => void
  serving: () => void
  executor: () => void
  queue: { changed: () => void; submitted: () => void }
}

/** Notifies each listener once of the events that a transaction recorded. */
export function announce(events: readonly Event[], listeners: Listeners): void {
  const kinds = new Set(events.map(kindOf))
  for (const username of peopleIn(events)) listeners.access(username)
  if (kinds.has('serving')) listeners.serving()
  if (kinds.has('queue')) listeners.queue.changed()
  else if (kinds.has('submit')) listeners.queue.submitted()
  if (kinds.has('queue') || kinds.has('submit') || kinds.has('executor')) listeners.executor()
}

const byType: ReadonlyMap<string, Announcement> = new Map(Object.entries(announced))

export const kindOf = ({ type }: Pick<Event, 'type'>): Announcement => byType.get(type) ?? 'none'

function peopleIn(events: readonly Event[]): Set<string> {
  const concerned = events.filter(event => kindOf(event) === 'access')
  return new Set(
    concerned.flatMap(({ data }) =>
      'username' in data && typeof data.username === 'string' ? data.username : [],
    ),
  )
}
