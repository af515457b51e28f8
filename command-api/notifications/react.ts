import type { AlertFired } from '../../events/alerts.ts'
import type { DecisionEvent } from '../../events/all.ts'
import { centsText } from '../../events/calculations/billing.ts'
import type { Recorded } from '../../events/event.ts'
import type { NotificationSent } from '../../events/notifications.ts'
import { currency } from '../../schemas/profiles.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { Duty } from '../effects/reactor.ts'

/** A notification and its recipient; `username` null: everybody who may sign in. */
export type Told = {
  username: string | null
  message: Omit<NotificationSent, 'username' | 'notification_id' | 'count'>
}

type Data<T extends DecisionEvent['type']> = Extract<DecisionEvent, { type: T }>['data']

type Caused = { actor: Recorded['actor'] }
type Tell = Told | readonly Told[] | null
type Tellers = { [T in DecisionEvent['type']]?: (data: Data<T>, caused: Caused) => Tell }

/** People are not notified of their own actions, except for the end of a job. */
const tellers: Tellers = {
  'job.succeeded': job => ofJob(job, { kind: 'job_succeeded', level: 'info' }, 'succeeded'),
  'job.failed': job =>
    ofJob(job, { kind: 'job_failed', level: 'error' }, `failed (${words(job.reason)})`),
  'job.stop_requested': (job, { actor }) =>
    job.reason === 'limit' || actor.id === job.owner
      ? null
      : ofJob(job, { kind: 'job_stopped', level: 'warn' }, `is being stopped by ${actor.id}`),
  'job.stopped': (job, { actor }) => {
    const told = { kind: 'job_stopped', level: 'warn' } as const
    if (job.reason === 'limit') return ofJob(job, told, 'was stopped at a limit')
    // The executor or the run records the end of an attempt; the person who asked for it was named at the request.
    if (actor.type !== 'user' || actor.id === job.owner) return null
    return ofJob(job, told, `was stopped by ${actor.id}`)
  },
  'job.pause_requested': (job, { actor }) =>
    actor.id === job.owner
      ? null
      : ofJob(job, { kind: 'job_paused', level: 'warn' }, `is being paused by ${actor.id}`),
  'job.retried': job =>
    ofJob(
      { ...job, message: `Attempt ${job.attempt} ended: ${words(job.reason)}` },
      { kind: 'job_retrying', level: 'warn' },
      'is being retried',
    ),
  'alert.fired': alert => (alert.consequences.includes('notify') ? ofAlert(alert) : null),
  'model.registration_failed': ({ model, reason, ...run }) =>
    ofJob(
      { ...run, message: reason },
      { kind: 'artifact_missing', level: 'warn' },
      `did not become a version of ${model}`,
    ),
  'hub.push_failed': ({ push_id, owner: username, repo, reason }) => ({
    username,
    message: {
      kind: 'artifact_missing',
      level: 'warn',
      title: `${repo} did not get its model`,
      body: cut(reason),
      target: { type: 'hub_push', id: push_id },
      url: '/hub-imports',
      actor: 'forge',
      group_key: `hub_push:${push_id}`,
    },
  }),
  'dataset.validated': ({ created_by, report, ...version }) =>
    ofDataset(created_by, version, report),
  'volume.cleanup_announced': ({ cleanup_at, ...volume }) =>
    ofVolume(volume, {
      level: 'warn',
      title: `The files of the volume ${volume.name} will be deleted`,
      body: `At ${toTimestamp(new Date(cleanup_at))}, unless a job uses it before`,
    }),
  'volume.cleaned': volume =>
    ofVolume(volume, {
      level: 'info',
      title: `The files of the volume ${volume.name} were deleted`,
      body: 'No job had used it for as long as it says',
    }),
  'quota.set': ofQuota,
  'quota.raised': ofQuota,
  'quota.raise_ended': ofQuota,
  'approval.requested': ({ tell, requested_by, ...asked }) =>
    tell.map(username =>
      ofApproval(username, asked, {
        ...{ kind: 'approval_requested', level: 'warn', actor: requested_by },
        title: `${requested_by} asks for approval: ${asked.title}`,
        body: `Rule ${asked.rule}; it expires at ${toTimestamp(new Date(asked.expires_at))}`,
      }),
    ),
  'approval.decided': ({ requested_by, decision, by, comment, ...decided }) =>
    ofApproval(requested_by, decided, {
      ...{ kind: 'approval_decided', level: decision === 'approved' ? 'info' : 'warn', actor: by },
      ...{ title: `${by} ${decision} ${decided.title}`, body: cut(comment) },
    }),
  'approval.expired': ({ requested_by, ...expired }) =>
    ofApproval(requested_by, expired, {
      ...{ kind: 'approval_decided', level: 'warn', actor: 'forge', body: '' },
      title: `Nobody decided about ${expired.title} in time`,
    }),
  'budget.threshold': ofBudget,
  'user.role_changed': ({ username, role }, { actor }) =>
    ofPerson(username, actor.id, {
      kind: 'role_changed',
      level: 'info',
      title: role === 'admin' ? 'You are an admin now' : 'You are no longer an admin',
      body: '',
    }),
  'user.refresh_reused': ({ username, sid }, { actor }) => ({
    username,
    message: {
      kind: 'session_ended',
      level: 'warn',
      title: 'One of your sessions was ended',
      body: 'Its refresh token was used twice, so somebody else may hold it. Change your password if it was not you.',
      target: { type: 'session', id: sid },
      url: null,
      actor: actor.id,
      group_key: 'session_ended',
    },
  }),
  'admin.maintenance_on': ({ message }, { actor }) => ({
    username: null,
    message: {
      kind: 'maintenance',
      level: 'warn',
      title: 'Maintenance began',
      body: message,
      target: null,
      url: null,
      actor: actor.id,
      group_key: 'maintenance',
    },
  }),
}

/** Pure; a duty for each notification. */
export function dutiesOf(event: Recorded<DecisionEvent>): Duty<Told>[] {
  // The table pairs each type with its data; TypeScript cannot follow a lookup by the event's own type.
  const tell = tellers[event.type] as ((data: object, caused: Caused) => Tell) | undefined
  const told = tell?.(event.data, event) ?? []
  return [told].flat().map(payload => ({ payload }))
}

type Validated = Data<'dataset.validated'>

/** The person who made the version waits for its validation. */
function ofDataset(
  username: string,
  { owner, name, version, state }: Omit<Validated, 'created_by' | 'report'>,
  { rows, error_count, errors: [first] }: Validated['report'],
): Told {
  const id = `${owner}/${name}@${version}`
  const isReady = state === 'ready'
  const faults = `${error_count} ${error_count === 1 ? 'error' : 'errors'}`
  return {
    username,
    message: {
      kind: isReady ? 'dataset_ready' : 'dataset_invalid',
      level: isReady ? 'info' : 'warn',
      title: `${id} is ${isReady ? 'ready' : 'invalid'}`,
      body: cut(
        isReady
          ? `${rows} rows`
          : `${faults}${first ? `; the first in ${first.file}, line ${first.line}: ${first.message}` : ''}`,
      ),
      target: { type: 'dataset', id },
      url: `/datasets/${owner}/${name}?version=${version}`,
      actor: 'forge',
      group_key: `dataset:${id}`,
    },
  }
}

type Limits = Pick<Data<'quota.set'>, 'username' | 'max_concurrent_gpus' | 'max_concurrent_jobs'>

function ofQuota(
  { username, max_concurrent_gpus, max_concurrent_jobs }: Limits,
  { actor }: Caused,
): Tell {
  return ofPerson(username, actor.id, {
    kind: 'quota_changed',
    level: 'info',
    title: 'Your quota changed',
    body: `Up to ${max_concurrent_gpus} GPUs and ${max_concurrent_jobs} jobs at once`,
  })
}

/** Its person, or the owner and the maintainers of its project. */
function ofBudget(budget: Data<'budget.threshold'>): Told[] {
  const { scope, name, month, percent, spent_micro, amount_micro, holds, tell } = budget
  const [spent, amount] = [spent_micro, amount_micro].map(micro => centsText(BigInt(micro)))
  const held = percent >= 100 && holds ? '; new jobs wait until it is raised' : ''
  return tell.map(username => ({
    username,
    message: {
      kind: 'budget_threshold',
      level: percent >= 100 ? 'error' : 'warn',
      title: `${percent} % of the budget of ${scope === 'user' ? name : `${scope} ${name}`} is spent`,
      body: `${spent} of ${amount} ${currency} in ${month}${held}`,
      target: { type: 'budget', id: `${scope}:${name}` },
      url: '/billing',
      actor: 'forge',
      group_key: `budget:${scope}:${name}:${month}`,
    },
  }))
}

const ofApproval = (
  username: string,
  { approval_id }: { approval_id: string },
  content: Pick<Told['message'], 'kind' | 'level' | 'title' | 'body' | 'actor'>,
): Told => ({
  username,
  message: {
    ...content,
    target: { type: 'approval', id: approval_id },
    url: `/approvals/${approval_id}`,
    group_key: `approval:${approval_id}`,
  },
})

type AboutVolume = { volume_id: string; owner: string }

const ofVolume = (
  { volume_id, owner }: AboutVolume,
  content: Pick<Told['message'], 'level' | 'title' | 'body'>,
): Told => ({
  username: owner,
  message: {
    ...{ kind: 'volume_cleanup', ...content },
    target: { type: 'volume', id: volume_id },
    url: `/volumes/${volume_id}`,
    actor: 'forge',
    group_key: `volume_cleanup:${volume_id}`,
  },
})

type AboutJob = { run_id: string; short_id: string; owner: string; message: string | null }
type Kind = Pick<Told['message'], 'kind' | 'level'>

/** Limit in characters; the whole output of a failed job is in its log. */
const maxBodyLength = 500

const cut = (text: string) => Array.from(text).slice(0, maxBodyLength).join('')

const ofJob = (
  { run_id, short_id, owner, message }: AboutJob,
  { kind, level }: Kind,
  happened: string,
): Told => ({
  username: owner,
  message: {
    kind,
    level,
    title: `${short_id} ${happened}`,
    body: cut(message ?? ''),
    target: { type: 'job', id: run_id },
    url: `/runs/${run_id}`,
    actor: 'forge',
    group_key: `${kind}:${run_id}`,
  },
})

/** A person has one unread entry for each rule and run, with the newest text. */
const ofAlert = ({
  run_id,
  short_id,
  owner,
  kind,
  level,
  rule,
  title,
  text,
}: AlertFired): Told => ({
  username: owner,
  message: {
    kind,
    level,
    title: `${short_id}: ${title}`,
    body: cut(text),
    target: { type: 'run', id: run_id },
    url: `/runs/${run_id}`,
    actor: 'forge',
    group_key: `${kind}:${rule}:${run_id}`,
  },
})

const ofPerson = (
  username: string,
  actor: string,
  content: Pick<Told['message'], 'kind' | 'level' | 'title' | 'body'>,
): Told | null =>
  actor === username
    ? null
    : {
        username,
        message: {
          ...content,
          target: { type: 'user', id: username },
          url: null,
          actor,
          group_key: content.kind,
        },
      }

const words = (reason: string) => reason.replaceAll('_', ' ')
