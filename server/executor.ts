import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Deps } from '../command-api/deps.ts'
import { earlierRunFilesReactor } from '../command-api/jobs/earlier-run-files.ts'
import { executorCommands } from '../command-api/jobs/executor-commands.ts'
import { type RunFilesDeps, runFilesReactor } from '../command-api/jobs/run-files.ts'
import { describeLocalProfile } from '../command-api/profiles/routes.ts'
import { expandedBytes } from '../command-api/uploads/complete.ts'
import { readEngineId } from '../executor/local/engine-id.ts'
import { hostEnvironment } from '../executor/local/environment.ts'
import type { Isolation } from '../executor/local/isolation.ts'
import { toLocalLaunch } from '../executor/local/launch.ts'
import { openLocalExecutor } from '../executor/local/local-executor.ts'
import type { Executor } from '../executor/port.ts'
import { startReconciler } from '../executor/reconciler.ts'
import { untilAborted } from '../platform/pause.ts'
import { startExclusive } from '../platform/postgres/exclusive.ts'
import { locks, textLock } from '../platform/postgres/locks.ts'
import { tryWithLock } from '../platform/postgres/with-lock.ts'
import { repeat } from '../platform/repeat.ts'
import type { Core } from './core.ts'
import { uploadsIn } from './data-directory.ts'
import { performDuties } from './effects.ts'
import { environmentsIn, openIsolation, python } from './isolation.ts'

export type Engine = { id: string; executor: Executor; isolation: Isolation }

/**
 * Opens the engine of this machine. Describes its hardware as the profile `local`, unless another machine is the one
 * that starts jobs.
 */
export async function openExecutor(core: Core, deps: Deps): Promise<Engine> {
  const { config, pool } = core
  const runsDirectory = join(config.dataDir, 'runs')
  const isolation = await openIsolation(core, runsDirectory)
  const executor = await openLocalExecutor({
    runsDirectory,
    isolation,
    fakeGpus: config.localGpus,
    hostEnvironment: hostEnvironment(process.env),
    now: deps.now,
  })
  const id = await readEngineId(config.dataDir, randomUUID)
  await tryWithLock(pool, locks.engine, async () =>
    describeLocalProfile(deps, await executor.capacity()),
  )
  return { id, executor, isolation }
}

/** How often a standby asks whether it is to start jobs, in milliseconds. */
const standbyMs = 1000
/** A minute is precise enough for files that are kept for days. */
const runFilesPollMs = 60_000

/** Starts executing jobs; the listener must have its port, because runs are given its address. */
export function runExecutor(core: Core, deps: Deps, { id, executor }: Engine): void {
  const { config, life, log, logger, topics, catalogue, pool } = core
  const look = () => {
    let isFirst = false
    const reconciler = startReconciler({
      executor,
      commands: executorCommands(deps, { executor: 'local', engine: id }),
      mayStart: () => isFirst,
      toLaunch: toLocalLaunch({
        recipe: (name, version) => catalogue.provide(name, version),
        environmentsDirectory: environmentsIn(config),
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
    core.jobsChanged.tell = reconciler.wake
    const leading = repeat(
      async signal => {
        await tryWithLock(pool, locks.engine, async (_, lost) => {
          await describeLocalProfile(deps, await executor.capacity())
          isFirst = true
          reconciler.wake()
          await untilAborted(AbortSignal.any([signal, lost]))
          isFirst = false
        })
        return standbyMs
      },
      {
        failed(error) {
          isFirst = false
          logger.warn({ err: error }, 'this machine cannot start jobs for now, will retry')
        },
      },
    )
    const deleting = performDuties<RunFilesDeps>(core, deps, {
      reactors: [runFilesReactor(config.runDirDays), earlierRunFilesReactor(config.runDirDays)],
      work: { pool, files: executor, logger },
      pollMs: runFilesPollMs,
    })
    return {
      async stop() {
        await Promise.all([leading.stop(), reconciler.stop(), deleting.stop()])
      },
    }
  }
  // Only one process manages the jobs of this engine; if it stops, another takes over.
  const exclusive = startExclusive({ pool, lock: textLock(`engine ${id}`), logger }, look)
  life.owns('executor', exclusive, started => started.stop())
}
