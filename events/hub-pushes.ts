import { type Static, Type } from 'typebox'
import { type HubPushState, pushFacts } from '../schemas/hub-pushes.ts'
import { aggregate, type EventOf, event } from './event.ts'

const identity = { push_id: Type.String(), owner: Type.String(), repo: Type.String() }

/** A person, or the end of their job, asked to send an artifact to the hub. */
export const hubPushRequested = event(
  'hub.push_requested',
  Type.Object(pushFacts),
  ({ artifact_id, run_id, repo }, who) =>
    `${who} began to send ${artifact_id === null ? 'an artifact' : `the artifact ${artifact_id}`} of run ${run_id} to ${repo} at the hub`,
)

/** The files of the artifact are known, and its model card is written. */
export const hubPushListed = event(
  'hub.push_listed',
  Type.Object({
    ...identity,
    file_count: Type.Integer({ minimum: 1 }),
    bytes: Type.Integer({ minimum: 0 }),
    card: Type.String(),
  }),
  ({ repo, file_count, bytes }, who) =>
    `${who} found ${file_count} ${file_count === 1 ? 'file' : 'files'} to send to ${repo}: ${bytes} bytes`,
)

/** The hub has a part of the files. */
export const hubPushProgressed = event(
  'hub.push_progressed',
  Type.Object({ ...identity, bytes_done: Type.Integer({ minimum: 0 }) }),
  ({ repo, bytes_done }, who) => `${who} sent ${bytes_done} bytes to ${repo} at the hub`,
)

/** The hub has all files, at this commit. */
export const hubPushSent = event(
  'hub.push_sent',
  Type.Object({ ...identity, commit: Type.String(), url: Type.String() }),
  ({ repo, commit }, who) => `${who} sent the model to the hub: ${repo}@${commit}`,
)

export const hubPushFailed = event(
  'hub.push_failed',
  Type.Object({ ...identity, reason: Type.String() }),
  ({ repo, reason }, who) => `${who} could not send the model to ${repo} at the hub: ${reason}`,
)

/** A person stopped it. What the hub has of it by then belongs to no commit. */
export const hubPushCancelled = event(
  'hub.push_cancelled',
  Type.Object(identity),
  ({ repo }, who) => `${who} stopped sending the model to ${repo} at the hub`,
)

const events = [
  hubPushRequested,
  hubPushListed,
  hubPushProgressed,
  hubPushSent,
  hubPushFailed,
  hubPushCancelled,
] as const
export type HubPushEvent = EventOf<(typeof events)[number]>
export type HubPushFacts = Static<typeof hubPushRequested.data>

/** Null before it is requested. */
export type HubPush = (HubPushFacts & { state: HubPushState }) | null

function evolve(before: HubPush, event: HubPushEvent): HubPush {
  if (event.type === 'hub.push_requested') return { ...event.data, state: 'requested' }
  return before && { ...before, state: stateAfter[event.type] }
}

const stateAfter: Record<Exclude<HubPushEvent['type'], 'hub.push_requested'>, HubPushState> = {
  'hub.push_listed': 'sending',
  'hub.push_progressed': 'sending',
  'hub.push_sent': 'sent',
  'hub.push_failed': 'failed',
  'hub.push_cancelled': 'cancelled',
}

export const hubPushes = aggregate('hub_push', {
  events,
  initial: null,
  evolve,
  snapshot: { shape: 1 },
})

export const hubPushAt = ({ push_id }: { push_id: string }) => hubPushes.at(push_id)
