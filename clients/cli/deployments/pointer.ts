import type { Command } from 'commander'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type World } from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { findDeployment, pathOf, readRevisions, revisionOf } from './find.ts'

type Changed = { state: string; promoted_revision_id: string | null; changed: boolean }
type Reason = CommonOptions & { reason?: string }

const withReason = (command: Command): Command =>
  command.option('-m, --reason <text>', 'why, for the history')

export const describeDeployPromote = (command: Command): Command =>
  withReason(
    command
      .argument('<deployment>', 'name or id')
      .argument('[revision]', 'number or id; the newest ready one if left out')
      .description('send requests to a revision from now on; those under way end where they began'),
  )

export async function deployPromote(
  world: World,
  named: string,
  wanted: string | undefined,
  { reason = '', ...options }: Reason,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const { deployment_id, promoted_revision_id } = await findDeployment(api, named)
  const revisions = await readRevisions(api, deployment_id)
  const revision =
    wanted === undefined
      ? revisions.find(({ state }) => state === 'ready')
      : revisionOf(revisions, wanted)
  if (!revision)
    throw usageFailure('No revision is ready', `hint: forge deploy show ${named} tells why`)
  const path = `${pathOf(deployment_id)}/revisions/${revision.revision_id}/promote`
  // What was read is what is meant: a promotion that came between is not undone by accident.
  const body = { reason, expected_promoted_revision_id: promoted_revision_id }
  const done = await api.post<Changed>(path, body)
  if (isJson) terminal.data(toJson(done))
  else
    terminal.data(
      done.changed
        ? `revision ${revision.number} is promoted; forge deploy rollback ${named} goes back`
        : `revision ${revision.number} was promoted already`,
    )
  return exitCode.ok
}

export const describeDeployRollback = (command: Command): Command =>
  withReason(
    command
      .argument('<deployment>', 'name or id')
      .description('send requests to the revision that had them before')
      .option('--to <revision>', 'number or id of another revision that is ready'),
  )

export async function deployRollback(
  world: World,
  named: string,
  { reason = '', to, ...options }: Reason & { to?: string },
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const { deployment_id } = await findDeployment(api, named)
  const revisions = await readRevisions(api, deployment_id)
  const target = to === undefined ? null : revisionOf(revisions, to).revision_id
  const done = await api.post<Changed>(`${pathOf(deployment_id)}/rollback`, { to: target, reason })
  const now = revisions.find(({ revision_id }) => revision_id === done.promoted_revision_id)
  terminal.data(isJson ? toJson(done) : `revision ${now?.number} is promoted again`)
  return exitCode.ok
}

export const describeDeploySuspend = (command: Command): Command =>
  withReason(
    command
      .argument('<deployment>', 'name or id')
      .description('serve nothing until it is resumed; address and tokens stay'),
  )

export const describeDeployResume = (command: Command): Command =>
  withReason(
    command.argument('<deployment>', 'name or id').description('serve again what was suspended'),
  )

const asking =
  (what: 'suspend' | 'resume') =>
  async (world: World, named: string, { reason = '', ...options }: Reason): Promise<ExitCode> => {
    const { api, terminal, isJson } = await openSignedIn(world, options)
    const { deployment_id } = await findDeployment(api, named)
    const done = await api.post<Changed>(`${pathOf(deployment_id)}/${what}`, { reason })
    terminal.data(isJson ? toJson(done) : `${deployment_id} ${done.state}`)
    return exitCode.ok
  }

export const deploySuspend = asking('suspend')
export const deployResume = asking('resume')
