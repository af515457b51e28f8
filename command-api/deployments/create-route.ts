import type { Pool } from 'pg'
import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import { type DeploymentSettings, deploymentAt } from '../../events/deployments.ts'
import { projectAt } from '../../events/projects.ts'
import { isOneOf } from '../../platform/postgres/one-of.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  type DeploymentInput,
  type DeploymentPatch,
  defaultLimits,
  defaultReplicas,
  deploymentCreated,
  deploymentInput,
} from '../../schemas/deployments/deployments.ts'
import { goneStates } from '../../schemas/deployments/serving-states.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { create, fresh, type Work } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { createEmptyProject, findProject, refuseProjectOfOthers } from '../rules/short-id.ts'
import { holdTeamFor } from '../rules/teams.ts'
import { type Besides, createDeployment } from './decide.ts'
import type { FindTemplate } from './ports.ts'
import { resolveServing } from './revisions/serving.ts'
import { resolveSource, sourcesOf } from './revisions/source.ts'
import { saveDeployment, servingLock } from './rows.ts'

export const createRoute = (deps: Deps, findTemplate: FindTemplate): Route =>
  route({
    method: 'POST',
    path: '/api/deployments',
    credential: 'person',
    reach: 'all',
    tag: 'deployments',
    summary:
      'Serve a model: create a deployment with its first revision, promoted once it is ready',
    body: deploymentInput,
    response: deploymentCreated,
    refusals: ['invalid', 'forbidden', 'conflict', 'not_configured', 'backend_failed'],
    handle: request => createOne(deps, request, findTemplate),
  })

type Create = HttpAsked & { caller: Person; body: DeploymentInput }

export async function createOne(
  deps: Deps,
  request: Create,
  findTemplate: FindTemplate,
  chosenId: string | null = null,
) {
  const { caller, body } = request
  refuseCapture(body)
  if (body.project !== undefined) await refuseStranger(deps.pool, body.project, caller)
  const resolved = await resolveSource(sourcesOf(deps), caller, body.source)
  const project = body.project ?? resolved.project
  if (project === null)
    throw new Refusal(
      'invalid',
      "Name the deployment's project: its source does not belong to one",
      {
        code: 'deployment.no_project',
      },
    )
  const serving = await resolveServing(body.serving ?? {}, resolved.source, findTemplate)
  const deployment_id = chosenId ?? deps.newId('dep')
  const revision_id = deps.newId('rev')
  const target =
    chosenId === null ? fresh(deploymentAt(deployment_id)) : deploymentAt(deployment_id)
  const { header } = body.source
  const secret = header && { header, headers: deps.engineHeaders }
  return create(deps, request, target, {
    locks: [projectAt(project).stream, nameLock(project, body.name), servingLock],
    async make(work) {
      await openProject(deps, work, { project, caller })
      if (body.team) await holdTeamFor(work.tx, { team: body.team, project, caller })
      await refuseTakenName(work, { project, name: body.name, deployment_id })
      const made = { deployment_id, owner: caller.username, project, ...settingsOf(body) }
      const first = { revision_id, source: resolved.source, serving, auto_promote: true }
      await work.decide(target, {
        decide: deployment => createDeployment(deployment, made, first, besidesIn(body)),
        alongside: (tx, decided) => saveDeployment(tx, decided, { secret }),
      })
      return {
        deployment_id,
        revision_id,
        state: 'creating',
        base_url: baseUrlOf(deps, deployment_id),
      }
    },
  })
}

export const baseUrlOf = ({ baseUrl }: Pick<Deps, 'baseUrl'>, deployment_id: string): string =>
  `${baseUrl()}/inference/${deployment_id}/v1`

export const nameLock = (project: string, name: string): string =>
  `deployment-name-${project}/${name}`

/** Names are unique among a project's existing deployments. Call with `nameLock` held. */
export async function refuseTakenName(
  { tx }: Pick<Work, 'tx'>,
  { project, name, deployment_id }: { project: string; name: string; deployment_id: string },
): Promise<void> {
  const { rowCount } = await tx.query(
    `select 1 from write.deployment_state
      where project = $1 and name = $2 and deployment_id <> $3 and not ${isOneOf('state', goneStates)}`,
    [project, name, deployment_id],
  )
  if (rowCount)
    throw new Refusal('conflict', `Project ${project} has a deployment named ${name}`, {
      code: 'deployment.name_taken',
      hint: 'Add a revision to it, or choose another name',
    })
}

/** The first deployment of a project creates it, as its first run does. */
export async function openProject(
  deps: Deps,
  work: Work,
  { project, caller }: { project: string; caller: Person },
): Promise<void> {
  if (!(await refuseStranger(work.tx, project, caller)))
    await createEmptyProject(deps, work, { project, caller })
}

/** Whether the project exists; throws if the caller may not submit to it. */
export async function refuseStranger(
  db: Pool | Transaction,
  project: string,
  caller: Person,
): Promise<boolean> {
  const known = await findProject(db, project, caller)
  if (known) refuseProjectOfOthers(known, project, caller)
  return known !== null
}

function settingsOf({ name, team = null, replicas, limits }: DeploymentInput): DeploymentSettings {
  const min = replicas?.min ?? defaultReplicas.min
  const max = replicas?.max ?? Math.max(min, defaultReplicas.max)
  if (min > max)
    throw new Refusal('invalid', `replicas.min is ${min}, more than replicas.max, which is ${max}`)
  return { name, team, min_replicas: min, max_replicas: max, ...defaultLimits, ...limits }
}

/** Each token captures or not, from its creation on. */
export function refuseCapture({ capture }: Pick<DeploymentPatch, 'capture'>): void {
  if (capture?.enabled || (capture?.sample_rate ?? 0) > 0)
    throw new Refusal('invalid', 'Capturing is turned on for a token, not for a deployment', {
      code: 'deployment.capture',
      hint: 'Create a token with capture: true',
    })
}

/** The settings with events of their own; the only metric of autoscaling needs no mention. */
export function besidesIn({
  autoscaling = {},
  allowed_origins,
  benchmark_gates,
}: DeploymentPatch): Besides {
  const { metric: _, ...scaling } = autoscaling
  return {
    autoscaling: scaling,
    ...(allowed_origins && { allowed_origins }),
    ...(benchmark_gates && { benchmark_gates }),
  }
}
