import { describe, overrideOption } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { request } from '../program/request.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Texts,
  type World,
} from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import {
  findDeployment,
  oneDeployment,
  pathOfDeployment,
  pathOfNamed,
  readRevisions,
  revisionOf,
} from './find.ts'

type Changed = { state: string; promoted_revision_id: string | null; changed: boolean }
type Reason = CommonOptions & Texts<'reason'>
type Override = Reason & Flags<'overrideGates'>

const reasonOption = {
  '-m, --reason <text>': 'why, for the history',
}

export const describeDeployPromote = describe({
  text: 'send new requests to a revision; those in flight finish where they began',
  operands: {
    ...oneDeployment,
    '[revision]': 'number or id; the newest ready one if left out',
  },
  options: { ...reasonOption, ...overrideOption },
})

export async function deployPromote(
  world: World,
  named: string,
  wanted: string | undefined,
  { reason = '', overrideGates: override_gates = false, ...options }: Override,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const { deployment_id, promoted_revision_id } = await findDeployment(api, named)
  const revisions = await readRevisions(api, deployment_id)
  const revision =
    wanted === undefined
      ? revisions.find(({ state }) => state === 'ready')
      : revisionOf(revisions, wanted)
  if (!revision)
    throw usageFailure('No revision is ready', `hint: forge deploy show ${named} shows why`)
  const path = `${pathOfDeployment(deployment_id)}/revisions/${revision.revision_id}/promote`
  // Fails if another promotion came in between, rather than undoing it by accident.
  const body = { reason, override_gates, expected_promoted_revision_id: promoted_revision_id }
  const done = await api.post<Changed>(path, body)
  if (isJson) terminal.data(toJson(done))
  else
    terminal.data(
      done.changed
        ? `revision ${revision.number} is promoted; forge deploy rollback ${named} goes back`
        : `revision ${revision.number} was already promoted`,
    )
  return exitCode.ok
}

export const describeDeployRollback = describe({
  text: 'send requests to the revision that had them before',
  operands: oneDeployment,
  options: {
    '--to <revision>': 'number or id of another revision that is ready',
    ...reasonOption,
    ...overrideOption,
  },
})

export async function deployRollback(
  world: World,
  named: string,
  {
    reason = '',
    to,
    overrideGates: override_gates = false,
    ...options
  }: Override & { to?: string },
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const { deployment_id } = await findDeployment(api, named)
  const revisions = await readRevisions(api, deployment_id)
  const target = to === undefined ? null : revisionOf(revisions, to).revision_id
  const done = await api.post<Changed>(`${pathOfDeployment(deployment_id)}/rollback`, {
    to: target,
    reason,
    override_gates,
  })
  const now = revisions.find(({ revision_id }) => revision_id === done.promoted_revision_id)
  terminal.data(isJson ? toJson(done) : `revision ${now?.number} is promoted again`)
  return exitCode.ok
}

const asking = (what: 'suspend' | 'resume') =>
  request<Changed & { deployment_id: string }, Reason>({
    send: async ({ api }, { reason = '' }, named) =>
      api.post(await pathOfNamed(api, named, `/${what}`), { reason }),
    data: ({ deployment_id, state }) => `${deployment_id} ${state}`,
  })

export const describeDeploySuspend = describe({
  text: 'serve nothing until it is resumed; address and tokens stay',
  operands: oneDeployment,
  options: reasonOption,
})

export const deploySuspend = asking('suspend')
export const describeDeployResume = describe({
  text: 'resume a suspended deployment',
  operands: oneDeployment,
  options: reasonOption,
})

export const deployResume = asking('resume')
