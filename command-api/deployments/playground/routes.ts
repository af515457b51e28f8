import type { Person } from '../../../auth/caller.ts'
import { type Route, route } from '../../../auth/route.ts'
import { deploymentAt } from '../../../events/deployments.ts'
import { type Playground, type PlaygroundEvent, playgroundAt } from '../../../events/playground.ts'
import { projectAt } from '../../../events/projects.ts'
import { isOneOf } from '../../../platform/postgres/one-of.ts'
import { Refusal } from '../../../platform/refusal.ts'
import type { SourceInput } from '../../../schemas/deployments/deployments.ts'
import { defaultLimits, defaultReplicas } from '../../../schemas/deployments/deployments.ts'
import { respondingStates } from '../../../schemas/deployments/serving-states.ts'
import {
  defaultTimes,
  noSampling,
  type PlaygroundInput,
  type PlaygroundSession,
  playgroundClosed,
  playgroundInput,
  playgroundPath,
  playgroundSession,
} from '../../../schemas/playground.ts'
import { toTimestamp } from '../../../schemas/timestamp.ts'
import type { HttpAsked } from '../../commit/asked.ts'
import { commit, create, fresh, type Work } from '../../commit/commit.ts'
import type { Deps } from '../../deps.ts'
import { deploymentToActOn } from '../act-on.ts'
import { baseUrlOf, openProject, refuseStranger } from '../create-route.ts'
import { createDeployment } from '../decide.ts'
import type { FindTemplate } from '../ports.ts'
import { resolveServing } from '../revisions/serving.ts'
import { resolveSource, sourcesOf } from '../revisions/source.ts'
import { saveDeployment, servingLock } from '../rows.ts'
import { endPlayground } from './decide.ts'
import { savePlayground } from './rows.ts'

/** Sessions that one person may have open; each may hold an engine. */
const mostOpen = 10

export const playgroundRoutes = (deps: Deps, findTemplate: FindTemplate): Route[] => [
  route({
    method: 'POST',
    path: '/api/playground',
    credential: 'person',
    reach: 'all',
    tag: 'playground',
    summary: 'Talk to a model with an access token; the session ends when it is idle',
    body: playgroundInput,
    response: playgroundSession,
    refusals: ['invalid', 'forbidden', 'not_found', 'conflict'],
    handle: request => open(deps, request, findTemplate),
  }),
  route({
    method: 'DELETE',
    path: '/api/playground/{session_id}',
    credential: 'person',
    reach: 'self',
    tag: 'playground',
    summary: 'Close a playground session; an engine that was started for it ends',
    params: playgroundPath,
    response: playgroundClosed,
    refusals: ['not_found'],
    async handle(request) {
      const { session_id } = request.params
      await refuseForeign(deps, session_id, request.caller)
      const { events } = await commit(deps, request, playgroundAt(session_id), {
        decide: session => endPlayground(session, 'closed', null),
        alongside: savePlayground,
      })
      return { ok: true as const, changed: events.length > 0 }
    },
  }),
]

async function refuseForeign({ pool }: Deps, session_id: string, { username }: Person) {
  const { rowCount } = await pool.query(
    'select 1 from write.playground_session where session_id = $1 and username = $2',
    [session_id, username],
  )
  if (!rowCount) throw new Refusal('not_found', `No such playground session: ${session_id}`)
}

type Open = HttpAsked & { caller: Person; body: PlaygroundInput }

async function open(
  deps: Deps,
  request: Open,
  findTemplate: FindTemplate,
): Promise<PlaygroundSession> {
  const { caller, body } = request
  await refuseMany(deps, caller)
  const plan = await planOf(deps, request, findTemplate)
  const session_id = deps.newId('pls')
  const target = fresh(playgroundAt(session_id))
  const times = { ...defaultTimes, ...timesIn(body) }
  return create(deps, request, target, {
    locks: [servingLock, ...(plan.owned?.locks ?? [])],
    async make(work) {
      if (plan.owned) await plan.owned.make(work, `playground-${session_id.slice(4).toLowerCase()}`)
      const expires_at = toTimestamp(new Date(work.now.getTime() + times.max_lifetime_s * 1000))
      const event: PlaygroundEvent = {
        type: 'playground.opened',
        data: {
          ...{ session_id, username: caller.username, deployment_id: plan.deployment_id },
          ...{ owns: plan.owned !== null, ...plan.named, ...times, expires_at },
        },
      }
      const params = { ...noSampling, ...body.params }
      await work.decide(target, {
        decide: (session: Playground) => (session ? [] : [event]),
        alongside: (tx, decided) => savePlayground(tx, decided, params),
      })
      const opened = toTimestamp(work.now)
      return {
        ...{ session_id, source: plan.named, state: plan.state, state_reason: null },
        ...{ base_url: baseUrlOf(deps, session_id), served_names: plan.served_names },
        ...{ deployment_id: plan.deployment_id, created_by: caller.username, params, ...times },
        ...{ created_at: opened, last_used_at: opened, expires_at },
      }
    },
  })
}

const timesIn = ({ idle_timeout_s, max_lifetime_s }: PlaygroundInput) => ({
  ...(idle_timeout_s !== undefined && { idle_timeout_s }),
  ...(max_lifetime_s !== undefined && { max_lifetime_s }),
})

async function refuseMany({ pool }: Deps, { username }: Person): Promise<void> {
  const { rows } = await pool.query<{ count: number }>(
    'select count(*)::int as count from write.playground_session where username = $1 and ended_at is null',
    [username],
  )
  if ((rows[0]?.count ?? 0) >= mostOpen)
    throw new Refusal('conflict', `You have ${mostOpen} playground sessions open, the maximum`, {
      code: 'playground.too_many',
      hint: 'Close one, or wait until one expires',
    })
}

type Named = { artifact_id: string | null; revision_id: string | null; model: string | null }
type Plan = {
  deployment_id: string
  named: Named
  /** Whether engines already respond, as `GET` shows it. */
  state: 'starting' | 'ready'
  served_names: string[]
  /** The deployment to create; null if engines already serve the source. */
  owned: { locks: string[]; make: (work: Work, name: string) => Promise<void> } | null
}

const nothing: Named = { artifact_id: null, revision_id: null, model: null }

async function planOf(deps: Deps, request: Open, findTemplate: FindTemplate): Promise<Plan> {
  const { caller, body } = request
  const { artifact_id, revision_id, model } = body.source
  if ([artifact_id, revision_id, model].filter(one => one !== undefined).length !== 1)
    throw new Refusal('invalid', 'Name one of source.artifact_id, revision_id and model')
  if (revision_id !== undefined) return ofRevision(deps, caller, revision_id)
  const source: SourceInput =
    model === undefined
      ? { kind: 'artifact', ...(artifact_id !== undefined && { artifact_id }) }
      : { kind: 'model', model }
  return ofArtifact(deps, request, findTemplate, source)
}

type RevisionRow = {
  deployment_id: string
  state: string
  served_names: string[]
  responds: boolean
}

async function ofRevision({ pool }: Deps, caller: Person, revision_id: string): Promise<Plan> {
  const { rows } = await pool.query<RevisionRow>(
    `select r.deployment_id, r.state, r.serving -> 'served_names' as served_names,
            ${isOneOf('d.state', respondingStates)} as responds
       from write.revision_state r join write.deployment_state d using (deployment_id)
      where r.revision_id = $1`,
    [revision_id],
  )
  const missing = new Refusal('not_found', `No such revision: ${revision_id}`)
  if (!rows[0]) throw missing
  const { deployment_id, state, served_names, responds } = rows[0]
  await deploymentToActOn(pool, { asked: deployment_id, caller, action: 'submit' }).catch(error => {
    throw error instanceof Refusal && error.code === 'not_found' ? missing : error
  })
  if (state !== 'ready')
    throw new Refusal('conflict', `Revision ${revision_id} is ${state}; only a ready one responds`)
  const found = { state: responds ? 'ready' : 'starting', served_names } as const
  return { deployment_id, named: { ...nothing, revision_id }, ...found, owned: null }
}

async function ofArtifact(
  deps: Deps,
  { caller, body: { template, profile } }: Open,
  findTemplate: FindTemplate,
  input: SourceInput,
): Promise<Plan> {
  const { source, project } = await resolveSource(sourcesOf(deps), caller, input)
  if (project === null) throw new Error('an artifact without a project')
  await refuseStranger(deps.pool, project, caller)
  const given = { template, profile }
  const serving = await resolveServing(
    Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    source,
    findTemplate,
  )
  const deployment_id = deps.newId('dep')
  const target = deploymentAt(deployment_id)
  const revision = { revision_id: deps.newId('rev'), source, serving, auto_promote: true }
  const settings = { min_replicas: defaultReplicas.min, max_replicas: 1, ...defaultLimits }
  return {
    deployment_id,
    named: { ...nothing, artifact_id: source.artifact_id, model: source.model },
    ...{ state: 'starting' as const, served_names: serving.served_names },
    owned: {
      locks: [projectAt(project).stream, target.stream],
      async make(work, name) {
        await openProject(deps, work, { project, caller })
        const made = { deployment_id, owner: caller.username, project, name, team: null }
        await work.decide(target, {
          decide: deployment => createDeployment(deployment, { ...made, ...settings }, revision),
          alongside: saveDeployment,
        })
      },
    },
  }
}
