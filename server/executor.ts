import type { Deps } from '../command-api/deps.ts'
import { earlierRunFilesReactor } from '../command-api/jobs/earlier-run-files.ts'
import { executorCommands } from '../command-api/jobs/executor-commands.ts'
import { type RunFiles, type RunFilesDeps, runFilesReactor } from '../command-api/jobs/run-files.ts'
import { describeEngineProfile } from '../command-api/profiles/routes.ts'
import { expandedBytes } from '../command-api/uploads/complete.ts'
import type { Isolation } from '../executor/local/isolation.ts'
import { toLocalLaunch } from '../executor/local/launch.ts'
import { type Reconciler, startReconciler } from '../executor/reconciler.ts'
import { pause } from '../platform/pause.ts'
import { type Part, startExclusive } from '../platform/postgres/exclusive.ts'
import { textLock } from '../platform/postgres/locks.ts'
import { tryWithLock } from '../platform/postgres/with-lock.ts'
import { repeat } from '../platform/repeat.ts'
import { spaced } from '../platform/spaced.ts'
import type { Core } from './core.ts'
import { uploadsIn } from './data-directory.ts'
import { performDuties } from './effects.ts'
import { type Engine, openEngines } from './engines.ts'
import { python } from './isolation.ts'

export type Engines = { engines: Engine[]; isolation: Isolation }

/**
 * Opens the engines of this process. Describes the hardware of this machine as the profile `local`, unless another
 * machine is starting the jobs.
 */
export async function openExecutor(core: Core, deps: Deps): Promise<Engines> {
  const opened = await openEngines(core, deps.now)
  for (const engine of opened.engines)
    if (engine.name === 'local')
      await tryWithLock(core.pool, engine.starting, () => describe(deps, engine))
  return opened
}

const describe = async (deps: Deps, engine: Engine) =>
  describeEngineProfile(deps, await engine.hardware())

/** How often a standby checks whether to take over starting jobs, in milliseconds. */
const standbyMs = 1000
/** How often an engine's hardware description is refreshed, in milliseconds: nodes come and go. */
const describeMs = 60_000
/** At a thousand submitted jobs per second, a pass after each would keep the database fully busy. */
const wakeEveryMs = 100
/** A minute is precise enough for files that are kept for days. */
const runFilesPollMs = 60_000

/** Starts executing jobs; the listener must have its port, because runs are given its address. */
export function runExecutor(core: Core, deps: Deps, { engines }: Engines): void {
  const { life, logger, pool } = core
  const reconcilers = new Set<Reconciler>()
  core.jobsChanged.tell = spaced(wakeEveryMs, () => {
    for (const reconciler of reconcilers) reconciler.wake()
  })
  for (const engine of engines) {
    const look = () => lookAfter(core, deps, engine, reconcilers)
    // Only one process manages the jobs of an engine; if it stops, another takes over.
    const exclusive = startExclusive({ pool, lock: textLock(`engine ${engine.id}`), logger }, look)
    life.owns(`executor ${engine.name}`, exclusive, started => started.stop())
  }
  const deleting = performDuties<RunFilesDeps>(core, deps, {
    reactors: [
      runFilesReactor(core.config.runDirDays),
      earlierRunFilesReactor(core.config.runDirDays),
    ],
    work: { pool, files: filesOf(engines), logger },
    pollMs: runFilesPollMs,
  })
  life.owns('run files', deleting, started => started.stop())
}

function lookAfter(core: Core, deps: Deps, engine: Engine, running: Set<Reconciler>): Part {
  const { config, log, logger, topics, catalogue } = core
  let isFirst = false
  const reconciler = startReconciler({
    executor: engine.executor,
    commands: executorCommands(deps, { executor: engine.name, engine: engine.id }),
    mayStart: () => isFirst,
    toLaunch: toLocalLaunch({
      recipe: (name, version) => catalogue.provide(name, version),
      environmentsDirectory: engine.environmentsDirectory,
      runsDirectory: engine.runsDirectory,
      uploadsDirectory: uploadsIn(config),
      packageLimitBytes: expandedBytes(config),
      python,
    }),
    log,
    logsTopic: topics.logs.name,
    logger,
    now: deps.now,
    newEventId: deps.newEventId,
  })
  running.add(reconciler)
  const leading = lead(core, deps, engine, first => {
    isFirst = first
    reconciler.wake()
  })
  return {
    async stop() {
      running.delete(reconciler)
      await Promise.all([leading.stop(), reconciler.stop()])
    },
  }
}

/**
 * Decides whether this process starts the jobs on engines of this name, and describes these engines while it does.
 */
function lead({ pool, logger }: Core, deps: Deps, engine: Engine, tell: (first: boolean) => void) {
  return repeat(
    async signal => {
      await tryWithLock(pool, engine.starting, async (_, lost) => {
        const ended = AbortSignal.any([signal, lost])
        while (!ended.aborted) {
          await describe(deps, engine)
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
          { err: error, executor: engine.name },
          'this process cannot start jobs at the moment, will retry',
        )
      },
    },
  )
}

/** The files of runs on all engines. */
const filesOf = (engines: readonly Engine[]): RunFiles => ({
  async holds(run_id, path) {
    for (const { executor } of engines) if (await executor.holds(run_id, path)) return true
    return false
  },
  async forgetRun(run_id) {
    let found = false
    for (const { executor } of engines) found = (await executor.forgetRun(run_id)) || found
    return found
  },
})
