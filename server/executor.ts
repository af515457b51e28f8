import { join } from 'node:path'
import type { Deps } from '../command-api/deps.ts'
import { earlierRunFilesReactor } from '../command-api/jobs/earlier-run-files.ts'
import { executorCommands } from '../command-api/jobs/executor-commands.ts'
import { type RunFilesDeps, runFilesReactor } from '../command-api/jobs/run-files.ts'
import { describeLocalProfile } from '../command-api/profiles/routes.ts'
import { hostEnvironment } from '../executor/local/environment.ts'
import { toLocalLaunch } from '../executor/local/launch.ts'
import { openLocalExecutor } from '../executor/local/local-executor.ts'
import type { Executor } from '../executor/port.ts'
import { startReconciler } from '../executor/reconciler.ts'
import { startExclusive } from '../platform/postgres/exclusive.ts'
import { locks } from '../platform/postgres/locks.ts'
import type { Core } from './core.ts'
import { performDuties } from './effects.ts'

/** Opens the engine of this machine, and describes its hardware as the profile `local`. */
export async function openExecutor({ config }: Core, deps: Deps): Promise<Executor> {
  const executor = await openLocalExecutor({
    runsDirectory: join(config.dataDir, 'runs'),
    fakeGpus: config.localGpus,
    hostEnvironment: hostEnvironment(process.env),
    now: deps.now,
  })
  await describeLocalProfile(deps, await executor.capacity())
  return executor
}

/** A minute is precise enough for files that are kept for days. */
const runFilesPollMs = 60_000

/** Starts executing jobs; the listener must have its port, because runs are given its address. */
export function runExecutor(core: Core, deps: Deps, executor: Executor): void {
  const { config, life, log, logger, topics, catalogue, pool } = core
  const look = () => {
    const reconciler = startReconciler({
      executor,
      commands: executorCommands(deps, 'local'),
      toLaunch: toLocalLaunch({
        catalogue,
        environmentsDirectory: join(config.dataDir, 'environments'),
        python: 'python3',
      }),
      log,
      logsTopic: topics.logs.name,
      logger,
      now: deps.now,
      newEventId: deps.newEventId,
    })
    core.jobsChanged.tell = reconciler.wake
    const deleting = performDuties<RunFilesDeps>(core, deps, {
      reactors: [runFilesReactor(config.runDirDays), earlierRunFilesReactor(config.runDirDays)],
      work: { pool, files: executor, logger },
      pollMs: runFilesPollMs,
    })
    return {
      async stop() {
        await Promise.all([reconciler.stop(), deleting.stop()])
      },
    }
  }
  // Only one process manages the jobs of this engine; if it stops, another takes over.
  const exclusive = startExclusive({ pool, lock: locks.engine, logger }, look)
  life.owns('executor', exclusive, started => started.stop())
}
