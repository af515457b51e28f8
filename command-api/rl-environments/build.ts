import {
  type RlEnvironmentEvent,
  rlEnvironmentAt,
  rlEnvironments,
} from '../../events/rl-environments.ts'
import { Refusal } from '../../platform/refusal.ts'
import { environmentReference } from '../../schemas/rl-environments/reference.ts'
import { smokeRollouts } from '../../schemas/rl-environments/rl-environments.ts'
import type { Deps } from '../deps.ts'
import { decided, nothing, type Outcome } from '../effects/outcome.ts'
import { type Reactor, reactor } from '../effects/reactor.ts'
import { roleIfEnabled } from '../rules/enabled-person.ts'
import { finishBuild } from './decide.ts'
import type {
  BuildEnvironment,
  BuildResult,
  DeploymentForRollouts,
  FindDeployment,
} from './port.ts'
import { saveEnvironment } from './rows.ts'

export type BuildDeps = Pick<
  Deps,
  'store' | 'pool' | 'uploads' | 'judgeTokens' | 'now' | 'logger'
> & {
  findDeployment: FindDeployment
  build: BuildEnvironment
}

type Published = Extract<RlEnvironmentEvent, { type: 'environment.published' }>['data']
type Payload = { owner: string; name: string; version: string; digest: string }

/** The last attempt only records that the earlier ones were interrupted, or failed for reasons that are not the environment's. */
const attempts = 4
const deadlineMs = 1_800_000
/** As long as rollouts may take, in milliseconds, and a little longer. */
const tokenMs = 900_000

/**
 * Builds new versions and runs their smoke rollouts, on the machine of an executor. A killed process leaves nothing that the next attempt
 * does not remove.
 */
export const environmentBuilder: Reactor<BuildDeps> = reactor<Payload, BuildDeps>({
  name: 'build-rl-environments',
  repeat: 'local',
  dutiesOf: ({ type, data }) =>
    type === 'environment.published'
      ? [
          {
            payload: {
              ...{ owner: data.owner, name: data.name },
              ...{ version: data.version, digest: data.digest },
            },
          },
        ]
      : [],
  deadlineMs,
  renewMs: 10_000,
  atOnce: 2,
  attempts,
  async perform({ payload, attempt, duty_id }, deps, signal): Promise<Outcome> {
    const target = rlEnvironmentAt(payload)
    const { events } = await deps.store.load<RlEnvironmentEvent>(target.stream)
    const state = events.reduce(rlEnvironments.evolve, rlEnvironments.initial)
    const version = state?.versions.find(one => one.version === payload.version)
    const made = events.findLast(
      event => event.type === 'environment.published' && event.data.version === payload.version,
    )
    const isWaiting = version?.state === 'building' && !version.is_deleted
    if (!isWaiting || version.digest !== payload.digest) return nothing
    if (made?.type !== 'environment.published') return nothing
    const building = { made: made.data, publisher: made.actor.id, build_id: `build-${duty_id}` }
    const { revision_id, ...found } =
      attempt >= attempts ? interrupted : await tried(deps, building, signal)
    const { owner, name } = payload
    const isReady = found.error === null
    const result = {
      ...{ owner, name, version: payload.version, revision_id },
      ...{ state: isReady ? ('ready' as const) : ('failed' as const), ...found },
    }
    return [
      decided(target, {
        decide: environment => finishBuild(environment, payload.digest, result),
        alongside: saveEnvironment,
      }),
    ]
  },
})

type Tried = BuildResult & { revision_id: string | null }

const failure = (error: string): Tried => ({ error, log: '', rollouts: [], revision_id: null })

const interrupted = failure(
  `The build could not be completed in ${attempts - 1} attempts; push the same files to try again`,
)

type Building = { made: Published; publisher: string; build_id: string }

/** An environment that cannot be built has failed; anything that may pass is thrown and tried again. */
async function tried(
  deps: BuildDeps,
  { made, publisher, build_id }: Building,
  signal: AbortSignal,
): Promise<Tried> {
  const { deployment_id, archive_sha256, digest, entry, args_default: args } = made
  const archive = deps.uploads.fileOf(archive_sha256)
  if ((await deps.uploads.sizeOf(archive_sha256)) === null)
    throw new Error(`the archive of ${environmentReference(made)} is not on this machine`)
  const wanted = { build_id, archive, digest, entry, args }
  if (deployment_id === null)
    return {
      ...(await deps.build({ ...wanted, rollouts: null }, signal)),
      revision_id: null,
    }
  const asked = await deploymentFor(deps, publisher, deployment_id)
  if (typeof asked === 'string') return failure(asked)
  const { revision_id, url, model } = asked
  const access = { deployment_id, revision_id, judging_id: build_id }
  const token = deps.judgeTokens.issue(access, new Date(deps.now().getTime() + tokenMs))
  const rollouts = { count: smokeRollouts, url, model, token }
  return { ...(await deps.build({ ...wanted, rollouts }, signal)), revision_id }
}

/** Rights may end while a build waits. */
async function deploymentFor(
  { pool, findDeployment }: BuildDeps,
  username: string,
  deployment_id: string,
): Promise<DeploymentForRollouts | string> {
  const role = await roleIfEnabled(pool, username)
  if (role === null) return `${username} may no longer sign in`
  try {
    return await findDeployment({ username, role }, deployment_id)
  } catch (error) {
    if (error instanceof Refusal) return error.detail
    throw error
  }
}
