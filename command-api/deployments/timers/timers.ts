import { forEachApart } from '../../../platform/each.ts'
import { textLock } from '../../../platform/postgres/locks.ts'
import { isOneOf } from '../../../platform/postgres/one-of.ts'
import { tryWithLock } from '../../../platform/postgres/with-lock.ts'
import { type Repeated, repeat } from '../../../platform/repeat.ts'
import { goneStates } from '../../../schemas/deployments/serving-states.ts'
import { move } from '../decide.ts'
import { endPlaygroundSessions } from '../playground/end-sessions.ts'
import { lookAfterReplicas, type ReplicaDeps } from '../replicas/replicas.ts'
import { type Samples, scaleDeployments } from '../replicas/scale.ts'
import { retireRevision } from '../revisions/decide.ts'
import { decideWith, type ServingDeps } from './decide-with.ts'
import { type AllAsking, askDue } from './engines.ts'

/** Interval between passes, in milliseconds. */
const intervalMs = 500
/** How long a revision stays warm after another was promoted, so that a rollback is immediate. */
export const rollbackWindowMs = 30 * 60_000

/**
 * Manages deployments: probes engines, routes to responding ones, and ends engines that are no longer needed.
 * One process does so at a time; every step is idempotent.
 */
export function startServingTimers(deps: ReplicaDeps): Repeated {
  const failed = (error: unknown) =>
    deps.logger.warn({ err: error }, 'a pass over the deployments failed, will retry')
  // Separate, so that engines hanging at their start do not delay probes of serving ones.
  const asking: AllAsking = { ready: new Map(), others: new Map() }
  const samples: Samples = new Map()
  const pass = () =>
    forEachApart(
      [
        () => lookAfterReplicas(deps, failed),
        () => askDue(deps, asking, 'ready'),
        () => askDue(deps, asking, 'others'),
        () => scaleDeployments(deps, samples, failed),
        () => endPlaygroundSessions(deps, failed),
        () => settle(deps),
        () => retireSuperseded(deps),
      ],
      step => step(),
      failed,
    )
  const passes = repeat(
    async signal => {
      if (!(await isAnyDeployed(deps))) return intervalMs
      await tryWithLock(deps.pool, textLock('serving keeper'), async (_, lost) => {
        if (!signal.aborted && !lost.aborted) await pass()
      })
      return intervalMs
    },
    { failed },
  )
  return {
    wake: passes.wake,
    async stop() {
      await passes.stop()
      const all = [...asking.ready.values(), ...asking.others.values()]
      for (const { abort } of all) abort()
      await Promise.all(all.map(({ done }) => done))
    },
  }
}

/** Whether a pass could find anything to do, asked in one statement: most installations serve no model. */
async function isAnyDeployed({ pool }: ServingDeps): Promise<boolean> {
  const { rows } = await pool.query<{ is_any: boolean }>({
    name: 'is_any_deployed',
    text: `select exists (select from write.deployment_state where state <> 'deleted')
               or exists (select from write.replica where state <> 'ended')
               or exists (select from write.playground_session) as is_any`,
  })
  return rows[0]?.is_any ?? true
}

type Fare = { deployment_id: string; state: string; ready: number; running: number }

/** Updates each deployment whose state changes because of its replicas. */
async function settle(deps: ServingDeps): Promise<void> {
  const { rows } = await deps.pool.query<Fare>({
    name: 'deployments_to_settle',
    text: `select d.deployment_id, d.state,
                  count(o.replica_id) filter (where o.is_ready and o.revision_id = d.promoted_revision_id)::int as ready,
                  count(r.replica_id) filter (where r.state <> 'ended' and r.run_id is not null)::int as running
             from write.deployment_state d
             left join write.replica r using (deployment_id)
             left join write.replica_route o using (replica_id)
            where d.state <> 'deleted' group by d.deployment_id`,
  })
  const due = rows.filter(({ state, ready, running }) => {
    if (state === 'suspending' || state === 'deleting') return running === 0
    if (state === 'suspended') return false
    return state === 'ready' ? ready === 0 : ready > 0
  })
  const act = async ({ deployment_id, state, ready }: Fare) => {
    const isEnding = state === 'suspending' || state === 'deleting'
    const trigger = isEnding ? 'ends' : ready > 0 ? 'serves' : 'lacks'
    const reason = trigger === 'lacks' ? 'no replica of the promoted revision responds' : null
    await decideWith(deps, { deployment_id }, { decide: one => move(one, trigger, reason) })
  }
  await forEachApart(due, act, (error, { deployment_id }) =>
    deps.logger.error({ err: error, deployment_id }, 'a deployment could not be updated'),
  )
}

/** Retires previously promoted revisions, which have stayed warm for a while. */
async function retireSuperseded(deps: ServingDeps): Promise<void> {
  const { rows } = await deps.pool.query<{ deployment_id: string; revision_id: string }>({
    name: 'revisions_to_retire',
    text: `select v.deployment_id, v.revision_id
             from write.revision_state v join write.deployment_state d using (deployment_id)
            where v.state = 'ready' and v.superseded_at < $1
              and d.promoted_revision_id is distinct from v.revision_id
              and not ${isOneOf('d.state', goneStates)} limit 100`,
    values: [new Date(deps.now().getTime() - rollbackWindowMs)],
  })
  const minutes = rollbackWindowMs / 60_000
  const reason = `another revision was promoted ${minutes} minutes ago`
  const retire = (row: (typeof rows)[number]) =>
    decideWith(deps, row, { decide: one => retireRevision(one, row.revision_id, reason) })
  await forEachApart(rows, retire, (error, { revision_id }) =>
    deps.logger.error({ err: error, revision_id }, 'a revision could not be retired'),
  )
}
