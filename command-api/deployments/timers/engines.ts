import { isOneOf } from '../../../platform/postgres/one-of.ts'
import type { Check, Serving } from '../../../schemas/deployments/deployments.ts'
import {
  leavingStates,
  overStates,
  restingStates,
} from '../../../schemas/deployments/serving-states.ts'
import type { Transaction } from '../../commit/event-store.ts'
import { inWords } from '../../rules/benchmark-gate.ts'
import { progressRevision, revisionFailed, revisionReady } from '../revisions/decide.ts'
import { foreseeFailures } from '../revisions/gates.ts'
import { pluginsAgainst } from '../revisions/plugins.ts'
import { routeReplica } from '../rows.ts'
import { decideWith, type ServingDeps } from './decide-with.ts'
import { ask } from './probe.ts'

/** How often a responding engine is probed, and one that does not respond; in milliseconds. */
const askAgainMs = 5_000
const retryMs = 1_000
/** Time limit of a probe. A first response may have to compile a model. */
const answerMs = { starting: 60_000, ready: 5_000 }
/** After this many failed probes, the engine gets no more requests. */
const maxFailures = 3
/** How long a revision may take from its first probe to its first response. */
const startMs = 30 * 60_000
const mostAtOnce = 16

/** Probes under way, by replica: a slow engine holds up nothing else. */
type Asking = Map<string, { done: Promise<void>; abort: () => void }>
export type AllAsking = Record<'ready' | 'others', Asking>

type Replica = {
  replica_id: string
  revision_id: string
  deployment_id: string
  base_url: string
  state: 'starting' | 'ready' | 'failing'
  failures: number
  started_at: Date
  serving: Serving
  revision: string
  header_name: string | null
  header_sealed: Buffer | null
}

/** Starts the probes that are due, without waiting for their results. */
export async function askDue(
  deps: ServingDeps,
  all: AllAsking,
  which: keyof AllAsking,
): Promise<void> {
  const asking = all[which]
  const underWay = [...all.ready.keys(), ...all.others.keys()]
  const { rows } = await deps.pool.query<Replica>({
    name: 'replicas_to_ask',
    text: `select r.replica_id, r.revision_id, r.deployment_id, r.base_url, r.state, r.failures, r.started_at,
                  v.serving, v.state as revision, o.header_name, o.header_sealed
             from write.replica r
             join write.revision_state v using (revision_id)
             join write.deployment_state d on d.deployment_id = r.deployment_id
             left join write.replica_route o using (replica_id)
            where not ${isOneOf('r.state', leavingStates)} and r.base_url is not null and r.next_at <= $1
              and not ${isOneOf('v.state', overStates)}
              and not ${isOneOf('d.state', restingStates)}
              and r.replica_id <> all ($2) and (r.state = 'ready') = $4
            order by r.next_at limit $3`,
    values: [deps.now(), underWay, Math.max(0, mostAtOnce - asking.size), which === 'ready'],
  })
  for (const row of rows) {
    const ended = new AbortController()
    const done = askOne(deps, row, ended.signal)
      .catch(reportOn(deps, row))
      .finally(() => asking.delete(row.replica_id))
    asking.set(row.replica_id, { done, abort: () => ended.abort() })
  }
}

const reportOn =
  ({ logger }: ServingDeps, { deployment_id, revision_id }: Replica) =>
  (error: unknown) =>
    logger.error({ err: error, deployment_id, revision_id }, 'a replica could not be probed')

async function askOne(deps: ServingDeps, replica: Replica, signal: AbortSignal): Promise<void> {
  const { serving, state, revision_id, header_name, header_sealed } = replica
  const value = header_sealed && deps.engineHeaders.open(header_sealed, revision_id)
  const header = header_name !== null && value ? { name: header_name, value } : null
  if (replica.revision === 'pending' || replica.revision === 'loading')
    await decideWith(deps, replica, {
      decide: deployment =>
        progressRevision(deployment, revision_id, { state: 'checking', reason: null }),
    })
  // Once it is ready, a cheap probe is enough.
  const smoke = state === 'ready' ? 'models' : serving.smoke
  const check = await ask(
    { base_url: replica.base_url, header },
    { smoke, model: serving.served_names[0] ?? 'default' },
    { timeoutMs: state === 'ready' ? answerMs.ready : answerMs.starting, signal },
  )
  if (signal.aborted) return
  await (check.ok ? answered(deps, replica, check) : silent(deps, replica, check))
}

async function answered(deps: ServingDeps, replica: Replica, check: Check): Promise<void> {
  const { deployment_id, revision_id, state, started_at, revision } = replica
  if (state === 'ready') return noteAsked(deps, replica, askAgainMs)
  const load_s = (deps.now().getTime() - started_at.getTime()) / 1000
  const { promoted, failures } = await foreseeFailures(deps, deployment_id, () => revision_id)
  const against =
    revision === 'ready'
      ? []
      : await pluginsAgainst(deps, { deployment_id, revision_id, by: null, reason: '' })
  const gate = { promoted, failed: [...failures.map(inWords), ...against.map(({ text }) => text)] }
  await decideWith(deps, replica, {
    decide: deployment =>
      revision === 'ready'
        ? []
        : revisionReady(deployment, revision_id, { checks: [check], load_s, gate }),
    also: tx => routeTo(deps, tx, replica),
  })
}

/** In one transaction, because gateways send requests to it from now on. */
async function routeTo(deps: ServingDeps, tx: Transaction, replica: Replica): Promise<void> {
  const { rowCount } = await tx.query(
    `update write.replica set state = 'ready', failures = 0, last_error = null, next_at = $2
      where replica_id = $1 and not ${isOneOf('state', leavingStates)}`,
    [replica.replica_id, later(deps, askAgainMs)],
  )
  // The response may arrive after the replica was given up.
  if (rowCount) await routeReplica(tx, replica, true)
}

async function silent(deps: ServingDeps, replica: Replica, check: Check): Promise<void> {
  const { replica_id, revision_id, state, failures, started_at, revision } = replica
  const isLate = deps.now().getTime() - started_at.getTime() > startMs
  if (revision !== 'ready' && isLate) {
    const reason = `no response within ${startMs / 60_000} minutes; last: ${check.detail}`
    return decideWith(deps, replica, {
      decide: deployment => revisionFailed(deployment, revision_id, { reason, checks: [check] }),
      also: tx =>
        // If Forge runs the engine, its job ends because the revision failed, and the replica with it.
        tx.query(
          "update write.replica set state = 'ended' where replica_id = $1 and run_id is null",
          [replica_id],
        ),
    })
  }
  if (state === 'ready' && failures + 1 >= maxFailures)
    return decideWith(deps, replica, {
      decide: () => [],
      async also(tx) {
        await routeReplica(tx, replica, false)
        await noteFailure(deps, tx, replica, check)
      },
    })
  await noteFailure(deps, deps.pool, replica, check)
}

const noteFailure = (
  deps: ServingDeps,
  db: Pick<Transaction, 'query'>,
  { replica_id, failures, state }: Replica,
  { detail }: Check,
) =>
  db.query(
    `update write.replica set failures = failures + 1, last_error = $2, next_at = $3,
            state = case when $4 then 'failing' else state end where replica_id = $1`,
    [
      ...[replica_id, detail, later(deps, Math.min(30_000, retryMs * 2 ** Math.min(failures, 5)))],
      state === 'ready' && failures + 1 >= maxFailures,
    ],
  )

const noteAsked = async ({ pool, now }: ServingDeps, { replica_id }: Replica, inMs: number) => {
  await pool.query(
    'update write.replica set failures = 0, last_error = null, next_at = $2 where replica_id = $1',
    [replica_id, later({ now }, inMs)],
  )
}

const later = ({ now }: Pick<ServingDeps, 'now'>, ms: number): Date =>
  new Date(now().getTime() + ms)
