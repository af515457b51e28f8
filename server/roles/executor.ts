import { deploymentToJudge } from '../../command-api/deployments/judge.ts'
import type { Deps } from '../../command-api/deps.ts'
import { executorCommands } from '../../command-api/jobs/executor-commands.ts'
import {
  type RunFiles,
  type RunFilesDeps,
  runFilesReactor,
} from '../../command-api/jobs/run-files.ts'
import { describeExecutorProfile } from '../../command-api/profiles/routes.ts'
import { type BuildDeps, environmentBuilder } from '../../command-api/rl-environments/build.ts'
import { dataInUse } from '../../command-api/rules/data-in-use.ts'
import { toLaunch } from '../../executor/launch.ts'
import { buildEnvironment } from '../../executor/node/build-rl-environment.ts'
import type { Isolation } from '../../executor/node/isolation.ts'
import { pythonClient } from '../../executor/preparation/recipe-command.ts'
import { trimPlaced } from '../../executor/preparation/trim-placed.ts'
import { type Reconciler, startReconciler } from '../../executor/reconciler.ts'
import { pause } from '../../platform/pause.ts'
import { type Part, startExclusive } from '../../platform/postgres/exclusive.ts'
import { textLock } from '../../platform/postgres/locks.ts'
import { tryWithLock } from '../../platform/postgres/with-lock.ts'
import { repeat } from '../../platform/repeat.ts'
import { spaced } from '../../platform/spaced.ts'
import type { Core } from '../core.ts'
import { performDuties } from './effects.ts'
import { type ExecutorHost, openExecutorHosts } from './executor-hosts.ts'
import { environmentsIn, python } from './isolation.ts'

export type ExecutorHosts = { hosts: ExecutorHost[]; isolation: Isolation }

/**
 * Opens the executors of this process. Describes the hardware of this machine as the profile `local`, unless another
 * machine is starting the jobs.
 */
export async function openExecutor(core: Core, deps: Deps): Promise<ExecutorHosts> {
  const opened = await openExecutorHosts(core, deps.now)
  for (const host of opened.hosts)
    if (host.name === 'local')
      await tryWithLock(core.pool, host.starting, () => describe(deps, host))
  return opened
}

const describe = async (deps: Deps, host: ExecutorHost) =>
  describeExecutorProfile(deps, await host.hardware())

/** How often a standby checks whether to take over starting jobs, in milliseconds. */
const standbyMs = 1000
/** How often a host's hardware description is refreshed, in milliseconds: nodes come and go. */
const describeMs = 60_000
/** At a thousand submitted jobs per second, a pass after each would keep the database fully busy. */
const wakeEveryMs = 100
/** A minute is precise enough for files that are kept for days. */
const runFilesPollMs = 60_000
/** How often shared datasets are looked through. */
const trimDataMs = 600_000

/** Starts executing jobs; the listener must have its port, because runs are given its address. */
export function runExecutor(core: Core, deps: Deps, { hosts, isolation }: ExecutorHosts): void {
  const { life, logger, pool } = core
  const reconcilers = new Set<Reconciler>()
  core.jobsChanged.tell = spaced(wakeEveryMs, () => {
    for (const reconciler of reconcilers) reconciler.wake()
  })
  for (const host of hosts) {
    const look = () => lookAfter(core, deps, host, reconcilers)
    // Only one process manages the jobs of a host; if it stops, another takes over.
    const exclusive = startExclusive({ pool, lock: textLock(`engine ${host.id}`), logger }, look)
    life.owns(`executor ${host.name}`, exclusive, started => started.stop())
  }
  const deleting = performDuties<RunFilesDeps>(core, deps, {
    reactors: [runFilesReactor(core.config.runDirDays)],
    work: { pool, files: filesOf(hosts), logger },
    pollMs: runFilesPollMs,
  })
  life.owns('run files', deleting, started => started.stop())
  buildEnvironments(core, deps, isolation)
}

/** Builds RL environments on this machine, isolated as its runs are. */
function buildEnvironments(core: Core, deps: Deps, isolation: Isolation): void {
  const build = buildEnvironment({
    isolation,
    environmentsDirectory: environmentsIn(core.config),
    clientDirectory: pythonClient,
    python,
  })
  const findDeployment: BuildDeps['findDeployment'] = (caller, asked) =>
    deploymentToJudge(deps, caller, asked)
  const building = performDuties<BuildDeps>(core, deps, {
    reactors: [environmentBuilder],
    work: { ...deps, findDeployment, build },
  })
  core.life.owns('builds of environments', building, started => started.stop())
}

function lookAfter(core: Core, deps: Deps, host: ExecutorHost, running: Set<Reconciler>): Part {
  const { logger, topics, catalogue } = core
  let isFirst = false
  const reconciler = startReconciler({
    executor: host.executor,
    commands: executorCommands(deps, {
      executor: host.name,
      engine: host.id,
      runsDirectory: host.runsDirectory,
    }),
    mayStart: () => isFirst,
    toLaunch: toLaunch((name, version) => catalogue.provide(name, version)),
    appendFacts: deps.appendFacts,
    logsTopic: topics.logs.name,
    logger,
    now: deps.now,
  })
  running.add(reconciler)
  const leading = lead(core, deps, host, first => {
    isFirst = first
    reconciler.wake()
  })
  const trimming = trimData(core, deps, host)
  return {
    async stop() {
      running.delete(reconciler)
      await Promise.all([leading.stop(), reconciler.stop(), trimming.stop()])
    },
  }
}

/** Decides whether this process starts the jobs on executors of this name, and describes these executors while it does. */
function lead(
  { pool, logger }: Core,
  deps: Deps,
  host: ExecutorHost,
  tell: (first: boolean) => void,
) {
  return repeat(
    async signal => {
      await tryWithLock(pool, host.starting, async (_, lost) => {
        const ended = AbortSignal.any([signal, lost])
        while (!ended.aborted) {
          await describe(deps, host)
          tell(true)
          await pause(describeMs, ended)
        }
        tell(false)
      })
      return standbyMs
    },
    {
      failed(error) {
        tell(false)
        logger.warn(
          { err: error, executor: host.name },
          'this process cannot start jobs at the moment, will retry',
        )
      },
    },
  )
}

/** Keeps the datasets and models that runs of this host share within their limit. */
const trimData = ({ config, pool, logger }: Core, { now }: Deps, host: ExecutorHost) =>
  repeat(
    async () => {
      if (config.sharedDataGb === 0) return trimDataMs
      const removed = await trimPlaced({
        directory: host.datasetsDirectory,
        mostBytes: config.sharedDataGb * 1e9,
        inUse: () => dataInUse(pool),
        now: now(),
      })
      if (removed > 0) logger.info({ removed, executor: host.name }, 'unused datasets were removed')
      return trimDataMs
    },
    {
      failed: error =>
        logger.warn({ err: error, executor: host.name }, 'unused datasets could not be removed'),
    },
  )

/** The files of runs on all hosts. */
const filesOf = (hosts: readonly ExecutorHost[]): RunFiles => ({
  async holds(run_id, path) {
    for (const { executor } of hosts) if (await executor.holds(run_id, path)) return true
    return false
  },
  async forgetRun(run_id) {
    let found = false
    for (const { executor } of hosts) found = (await executor.forgetRun(run_id)) || found
    return found
  },
})
