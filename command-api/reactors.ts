import { hardwareAlerts } from './alerts/follow-hardware.ts'
import { metricAlerts } from './alerts/follow-metrics.ts'
import { findingAlerts } from './alerts/perform.ts'
import { deleteAlertsOf } from './alerts/rows.ts'
import { checkpointKeeper } from './artifacts/keep-checkpoints.ts'
import { artifactRemover } from './artifacts/remove-files.ts'
import { deleteArtifactsOf } from './artifacts/rows.ts'
import { artifactVerifier } from './artifacts/verify.ts'
import type { Deps } from './deps.ts'
import { deviceCodeReactor } from './devices/delete-expired.ts'
import { diagnoser, diagnosisRequester } from './diagnoses/perform.ts'
import type { Follower } from './follower.ts'
import { ruleKeeper } from './jobs/rule-consequences.ts'
import { modelRegistrar } from './models/perform.ts'
import { notifier } from './notifications/perform.ts'
import type { Reactor } from './reactor.ts'
import { retiredScoreReactor } from './rubrics/delete-retired.ts'
import { runForgetter, runPurger } from './runs/purge.ts'
import { uploadReactor } from './uploads/delete-unused.ts'
import { deleteRoundsOf } from './validation/rounds.ts'

/**
 * The reactors of every process that serves commands; the list is written by hand. Reactors that only some processes
 * can run are listed where these are assembled: deleting the files of runs in server/executor.ts, trimming the log in
 * server/read-side.ts.
 */
export const reactors: readonly Reactor<Deps>[] = [
  notifier,
  deviceCodeReactor,
  uploadReactor,
  artifactVerifier,
  checkpointKeeper,
  artifactRemover,
  modelRegistrar,
  diagnosisRequester,
  diagnoser,
  findingAlerts,
  ruleKeeper,
  runPurger([deleteArtifactsOf, deleteAlertsOf, deleteRoundsOf]),
  runForgetter,
  retiredScoreReactor,
]

/** All followers; the list is written by hand. Each server has its own, because they are stateful. */
export const newFollowers = (): readonly Follower<Deps>[] => [metricAlerts(), hardwareAlerts()]
