import type { DecisionEvent } from '../../events/all.ts'
import type { Actor, Event } from '../../events/event.ts'

type Data<T extends DecisionEvent['type']> = Extract<DecisionEvent, { type: T }>['data']

/** What an event says, in one sentence; one for each type, and one that is missing does not compile. */
type Sentences = { [T in DecisionEvent['type']]: (data: Data<T>, who: string) => string }

const sentences: Sentences = {
  'admin.maintenance_on': ({ message }, who) => `${who} began maintenance: ${message}`,
  'admin.maintenance_off': (_, who) => `${who} ended maintenance`,
  'artifact.registered': ({ kind, path, run_id }, who) =>
    `${who} registered the ${kind} ${path} of run ${run_id}`,
  'hparams.set': ({ run_id, added, changed }, who) =>
    `${who} added ${count(Object.keys(added).length, 'hyperparameter')} of run ${run_id} and changed ${changed.length}`,
  'image_registries.set': ({ registries }, who) =>
    registries.length === 0
      ? `${who} let images come from nowhere but the recipes`
      : `${who} let images come from ${registries.join(', ')} alone`,
  'job.admitted': ({ short_id, name, recipe, gpus, series }, who) =>
    `${who} submitted job ${short_id} (${name}): ${recipe.name} ${recipe.version} on ${gpus} × ${series}`,
  'job.held': ({ short_id, reason, until }, who) =>
    `${who} held job ${short_id} back (${reason})${until === null ? '' : ` until ${until}`}`,
  'job.queued': ({ short_id, reason }, who) => `${who} queued job ${short_id} (${reason})`,
  'job.scheduled': ({ short_id, attempt, executor, nodes }, who) =>
    `${who} gave attempt ${attempt} of job ${short_id} its place on ${executor} (${nodes.join(', ')})`,
  'job.starting': ({ short_id, attempt, phase }, who) =>
    `${who} said that attempt ${attempt} of job ${short_id} is starting${phase === null ? '' : ` (${phase})`}`,
  'job.running': ({ short_id, attempt }, who) =>
    `${who} said that attempt ${attempt} of job ${short_id} is running`,
  'job.pause_requested': ({ short_id, message, deadline }, who) =>
    `${who} asked job ${short_id} to pause by ${deadline}${because(message)}`,
  'job.paused': ({ short_id, message }, who) => `${who} paused job ${short_id}${because(message)}`,
  'job.resumed': ({ short_id, message }, who) =>
    `${who} resumed job ${short_id}${because(message)}`,
  'job.preempted': ({ short_id, attempt }, who) =>
    `${who} took the GPUs from attempt ${attempt} of job ${short_id} for another job`,
  'job.retried': ({ short_id, attempt, reason }, who) =>
    `${who} let job ${short_id} try again after attempt ${attempt} (${reason})`,
  'job.stop_requested': ({ short_id, reason, message, force }, who) =>
    `${who} asked job ${short_id} to ${force ? 'be killed' : 'stop'} (${reason})${because(message)}`,
  'job.exited': ({ short_id, attempt, ...exit }, who) =>
    `${who} saw attempt ${attempt} of job ${short_id} end: ${exitText(exit)}`,
  'job.succeeded': (data, who) => endOfJob(data, who, 'succeeded'),
  'job.failed': (data, who) => endOfJob(data, who, 'failed'),
  'job.stopped': (data, who) => endOfJob(data, who, 'stopped'),
  'profile.set': ({ name, series, gpus_per_node, available, price_per_gpu_hour }, who) =>
    `${who} described profile ${name}: ${gpus_per_node} × ${series} a node at ${price_per_gpu_hour} a GPU hour${available ? '' : ', not available'}`,
  'project.changed': ({ name, visibility, notes }, who) =>
    `${who} set project ${name} to ${visibility}, ${notes === '' ? 'without notes' : 'with notes'}`,
  'project.member_removed': ({ name, username }, who) =>
    `${who} removed ${username} from project ${name}`,
  'project.member_set': ({ name, username, role }, who) =>
    `${who} made ${username} a ${role} of project ${name}`,
  'project.created': ({ name, owner, visibility }, who) =>
    `${who} created the ${visibility} project ${name} of ${owner}`,
  'projection.rebuild_requested': ({ projection }, who) =>
    `${who} had the read models built anew (${projection})`,
  'quota.set': ({ username, max_concurrent_gpus, max_concurrent_jobs, daily_gpu_hours }, who) =>
    `${who} set the quota of ${username}: ${count(max_concurrent_gpus, 'GPU')} and ${count(max_concurrent_jobs, 'job')} at once, ${daily_gpu_hours === 0 ? 'any number of' : daily_gpu_hours} GPU hours a day`,
  'rubric.updated': ({ owner, name, version, visibility }, who) =>
    `${who} wrote version ${version} of the ${visibility} rubric ${owner}/${name}`,
  'run.created': ({ short_id, project }, who) =>
    `${who} began the run ${short_id} in project ${project}`,
  'run.started': ({ run_id }, who) => `${who} said that ${run_id} is running`,
  'run.succeeded': ({ run_id }, who) => `${who} said that ${run_id} succeeded`,
  'run.failed': ({ run_id, message }, who) =>
    `${who} said that ${run_id} failed${because(message)}`,
  'run.abandoned': ({ run_id }, who) => `${who} gave up ${run_id}, which was silent for a day`,
  'run.token_issued': ({ run_id }, who) =>
    `${who} took another ingest token for ${run_id}; the ones before it ended`,
  'signing_key.rotated': ({ kid, replaced_kid }, who) =>
    `${who} had access tokens signed with the key ${kid} instead of ${replaced_kid}`,
  'user.identity_linked': ({ username, issuer }) =>
    `${username} first came from the identity provider ${issuer}`,
  'user.created': ({ username, role, auth }, who) =>
    `${who} created the ${role} ${username}, who signs in by ${auth}`,
  'user.device_approved': (_, who) => `${who} let a device sign in as themselves`,
  'user.device_denied': (_, who) => `${who} refused a device that asked to sign in`,
  'user.login': ({ username, via }) => `${username} signed in by ${via}`,
  'user.logout': (_, who) => `${who} signed out`,
  'user.refresh_reused': ({ username }) =>
    `A spent refresh token of ${username} came again: its session ended as stolen`,
  'user.session_revoked': ({ sid }, who) => `${who} ended the session ${sid} from another`,
  'user.password_changed': ({ username }, who) => `${who} changed the password of ${username}`,
  'user.role_changed': ({ username, role, previous }, who) =>
    `${who} made ${username} ${role} instead of ${previous}`,
  'user.disabled': ({ username }, who) => `${who} disabled ${username} and ended their sessions`,
  'user.enabled': ({ username }, who) => `${who} enabled ${username} again`,
  'user.password_reset': ({ username }, who) =>
    `${who} set a new password for ${username} and ended their sessions`,
  'user.profile_changed': ({ username, fields }, who) =>
    `${who} changed the ${fields.map(field => field.replace('_', ' ')).join(' and ')} of ${username}`,
}

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`

const because = (message: string | null) => (message === null ? '' : `: ${message}`)

type Exit = Pick<Data<'job.exited'>, 'exit_code' | 'signal' | 'oom_killed' | 'launch_error'>

function exitText({ exit_code, signal, oom_killed, launch_error }: Exit): string {
  if (launch_error !== null) return launch_error
  if (oom_killed) return 'killed for want of memory'
  return signal === null ? `exit code ${exit_code ?? 'unknown'}` : `signal ${signal}`
}

function endOfJob(
  { short_id, reason, message }: Data<'job.succeeded'>,
  who: string,
  state: string,
): string {
  return `${who} ended job ${short_id}: ${state} (${reason})${because(message)}`
}

const nameOf = ({ type, id }: Actor): string => {
  switch (type) {
    case 'user':
      return id
    case 'run':
      return `The code of ${id}`
    case 'system':
      return `The ${id}`
  }
}

const sentenceOf = new Map<string, (data: never, who: string) => string>(Object.entries(sentences))

/**
 * `alice submitted job math-rl-1 …`; of a type that is not known here (any more), only its name. What somebody
 * has made illegible is said to be: it must not keep the rest from being read.
 */
export function summaryOf(event: Event, actor: Actor): string {
  try {
    const who = nameOf(actor)
    const sentence = sentenceOf.get(event.type)
    return sentence ? sentence(event.data as never, who) : `${who} caused ${event.type}`
  } catch {
    return `Somebody caused ${event.type}, which is not as it was recorded`
  }
}
