import type { Pool } from 'pg'
import { engineHeaders } from '../../auth/engine-header.ts'
import { judgeTokens } from '../../auth/judge-token.ts'
import type { KeyStore } from '../../auth/key-folder.ts'
import { type KeyRing, openKeyRing, watchKeys } from '../../auth/keys.ts'
import { oidcOf } from '../../auth/oidc-settings.ts'
import { readPositionKey } from '../../auth/position-key.ts'
import { openSealingKeys } from '../../auth/sealing-keys.ts'
import { secondFactorPolicy } from '../../auth/second-factor.ts'
import { startAlertTimers } from '../../command-api/alerts/timers.ts'
import { announce, type Listeners } from '../../command-api/announcements.ts'
import { createFactAppends } from '../../command-api/commit/append-fact.ts'
import { raiseEpoch } from '../../command-api/commit/commit-epoch.ts'
import {
  type EventStore,
  type EventStoreDeps,
  postgresEventStore,
} from '../../command-api/commit/event-store.ts'
import { kinds, planReactors, reactors } from '../../command-api/compose.ts'
import { startServingTimers } from '../../command-api/deployments/timers/timers.ts'
import type { Deps } from '../../command-api/deps.ts'
import { dutiesFor } from '../../command-api/effects/reactor.ts'
import { createQueueBook } from '../../command-api/jobs/queue-book.ts'
import { runFilesReactor } from '../../command-api/jobs/run-files.ts'
import { startJobTimers } from '../../command-api/jobs/timers.ts'
import { createKeyLimit } from '../../command-api/metrics/key-limit.ts'
import { startPluginSender } from '../../command-api/plugins/send.ts'
import { refuseLogAhead } from '../../command-api/relay/log-ahead.ts'
import { startRelay } from '../../command-api/relay/relay.ts'
import { environmentBuilder } from '../../command-api/rl-environments/build.ts'
import { createReports } from '../../command-api/rules/admit-report.ts'
import { type Hub, openHub } from '../../command-api/rules/model-hub.ts'
import { openPluginCalls } from '../../command-api/rules/plugin-calls.ts'
import { createShortNumbers } from '../../command-api/rules/short-numbers.ts'
import { startRunTimers } from '../../command-api/runs/timers.ts'
import { startFailedLoginRecorder } from '../../command-api/sessions/failed-logins.ts'
import { decisionEvents } from '../../events/all.ts'
import { type AllowedHosts, allowedHosts } from '../../platform/http/allowed-hosts.ts'
import { type Outgoing, openOutgoing } from '../../platform/http/outgoing.ts'
import { addressKeyOf } from '../../platform/http/signed-address.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { eventId, prefixedId } from '../../platform/time.ts'
import { storedKeys } from '../../projector/metrics/stored-keys.ts'
import type { Core } from '../core.ts'
import { volumesIn } from '../data-directory.ts'
import { keyStoreOf } from '../key-store.ts'
import { openStores } from '../object-stores.ts'
import { isGatewayAlone } from '../settings/config.ts'
import { readSettingFile } from '../settings/secret-file.ts'
import { ledgerReader } from './ledger-reader.ts'
import { observing } from './observed.ts'
import { replicaJobs } from './replicas.ts'
import { roundReader } from './round-reader.ts'

/** Opens the event store, and starts the relay if this process has that role. */
export async function openWriteSide(core: Core): Promise<Deps> {
  const { config, logger, life, now, pool, log, topics } = core
  const topic = topics.decisions.name
  await asOwner(core, owner => raiseEpoch(owner, logger))
  // A gateway takes no decisions and starts without the log.
  if (!isGatewayAlone(config)) await refuseLogAhead({ pool, log, topic, logger })
  if (config.roles.includes('relay'))
    core.relay.current = life.owns('relay', startRelay({ pool, log, topic, logger }), started =>
      started.stop(),
    )
  const stores = await openStores(core)
  const keyStore = await keyStoreOf(core)
  const queue = createQueueBook({
    pool,
    now,
    failed: error => logger.error({ err: error }, 'the waits of the queue could not be forecast'),
  })
  const listeners = { ...listenersOf(core), queue }
  const sealing = await openSealingKeys(keyStore, now())
  const guard = await guardOf(core)
  return {
    store: openEventStore(core, {
      committed: () => core.relay.current?.wake(),
      dutiesAdded: () => core.dutiesAdded.tell(),
      recorded: events => announce(events, listeners),
    }),
    pool,
    now,
    newId: prefixedId,
    config: { ...config, oidc: oidcOf(config), secondFactor: secondFactorPolicy(config) },
    keys: await openKeys(core, keyStore),
    sealing,
    logger,
    reports: createReports(pool, now),
    ...createFactAppends(log, eventId),
    metricKeys: createKeyLimit(storedKeys(core.readPool), {
      noticed: (run_id, keys) => logger.warn({ run_id, keys }, 'a run has many metric keys'),
    }),
    shortNumbers: createShortNumbers(core.loosePool),
    queue,
    ...stores,
    uploadKey: addressKeyOf(await readPositionKey(pool), 'uploads'),
    observe: observing(core.readPool),
    readRound: roundReader(core.readPool),
    ledger: ledgerReader(core.readPool),
    topics,
    newEventId: eventId,
    ingestedPoints: count => core.measures.ingestedPoints.inc(count),
    servingChanged: listeners.serving,
    engineHeaders: engineHeaders(await readPositionKey(pool)),
    judgeTokens: judgeTokens(await readPositionKey(pool)),
    hub: openHubOf(core, guard),
    plugins: openPluginCalls({
      ...{ pool, sealing, now, logger, newId: prefixedId, allowed: guard.allowed },
      outgoing: openPluginClient(core, guard),
    }),
    volumes: {
      local: volumesIn(config.dataDir),
      slurm: config.slurmDir === null ? null : volumesIn(config.slurmDir),
    },
    baseUrl: () => core.baseUrl,
  }
}

type Guard = { allowed: AllowedHosts; ca: string | null }

/** Which internal services requests may leave for, and whose certificates count. */
async function guardOf({ config: { outgoingHosts, outgoingCaFile } }: Core): Promise<Guard> {
  const name = 'SERVICE_OUTGOING_CA_FILE'
  const ca = outgoingCaFile === null ? null : await readSettingFile(name, outgoingCaFile)
  return { allowed: allowedHosts(outgoingHosts), ca }
}

/** The hub that the administrator configured. */
function openHubOf({ config, life }: Core, guard: Guard): Hub | null {
  const { hubEndpoint: endpoint } = config
  if (endpoint === null) return null
  const outgoing = life.owns(
    'model hub',
    openOutgoing({ trusted: new URL(endpoint).origin, ...guard }),
    opened => opened.close(),
  )
  return openHub({ endpoint, outgoing })
}

/** Follows no redirects. */
const openPluginClient = ({ life }: Core, guard: Guard): Outgoing =>
  life.owns('plugins', openOutgoing({ trusted: null, redirects: 0, ...guard }), opened =>
    opened.close(),
  )

/** Events belong to the owner of the database: other roles only add to them. */
async function asOwner({ databaseUrl }: Core, work: (owner: Pool) => Promise<void>): Promise<void> {
  const owner = createPool(databaseUrl, { max: 1, applicationName: 'forge epoch' })
  try {
    await work(owner)
  } finally {
    await owner.end()
  }
}

/** Wakes the executor of this process; the other signals reach all processes. */
const listenersOf = ({ signals, jobsChanged }: Core): Omit<Listeners, 'queue'> => ({
  access: username => signals.publish('access', { username }),
  serving: () => signals.publish('serving', {}),
  executor: () => jobsChanged.tell(),
})

/** The store of decisions with their consequences; `wakes` are called after a commit. */
export const openEventStore = (
  { pool, config }: Pick<Core, 'pool' | 'config'>,
  wakes: Pick<EventStoreDeps, 'committed' | 'dutiesAdded' | 'recorded'>,
): EventStore =>
  postgresEventStore({
    pool,
    definitions: decisionEvents,
    newEventId: eventId,
    kinds,
    dutiesOf: dutiesFor([
      ...[...reactors, ...planReactors],
      ...[environmentBuilder, runFilesReactor(config.runDirDays)],
    ]),
    ...wakes,
  })

async function openKeys(core: Core, store: KeyStore): Promise<KeyRing> {
  const { config, life, logger, now } = core
  const keys = await openKeyRing(store)
  const watch = watchKeys(keys, {
    now,
    tokenSeconds: config.jwtHours * 3600,
    failed: error => logger.warn({ err: error }, 'the signing keys could not be checked'),
  })
  life.owns('key watch', watch, started => started.stop())
  return keys
}

/** Starts the timers of runs, jobs and sign-ins, e.g. the timers that end them. */
export function startTimers(core: Core, deps: Deps): void {
  const { life } = core
  life.owns('run timers', startRunTimers(deps), started => started.stop())
  const jobTimers = startJobTimers(deps)
  life.owns('job timers', jobTimers, started => started.stop())
  life.owns(
    'serving timers',
    startServingTimers({ ...deps, jobs: replicaJobs(core, deps) }),
    started => started.stop(),
  )
  life.owns('plugin sender', startPluginSender(deps), started => started.stop())
  life.owns('alert timers', startAlertTimers(deps), started => started.stop())
  life.owns('failed sign-ins', startFailedLoginRecorder(deps), started => started.stop())
}
