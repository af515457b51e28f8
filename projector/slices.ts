import { decisionEvents } from '../events/all.ts'
import type { Topics } from '../events/topics.ts'
import { alertProjection } from './alerts/projection.ts'
import { artifactProjection } from './artifacts/projection.ts'
import { benchmarkProjection } from './benchmarks/projection.ts'
import { changesSlice } from './changes/projection.ts'
import { decisionsProjection, slice } from './decisions.ts'
import { deploymentProjection } from './deployments/projection.ts'
import { diagnosisProjection } from './diagnoses/projection.ts'
import { environmentProjection } from './environment/projection.ts'
import { hardwareProjection } from './hardware/projection.ts'
import { hparamsProjection } from './hparams/projection.ts'
import { jobProjection, newJobs } from './jobs/projection.ts'
import { logsProjection } from './logs/projection.ts'
import { metricsProjection } from './metrics/projection.ts'
import { mlflowProjection } from './mlflow/projection.ts'
import { modelProjection } from './models/projection.ts'
import { notificationProjection } from './notifications/projection.ts'
import type { TopicProjection } from './projection.ts'
import { projectProjection } from './projects/projection.ts'
import { purgedRuns } from './purged-runs.ts'
import { quotaProjection } from './quotas/projection.ts'
import { rubricProjection } from './rubrics/projection.ts'
import { newRuns, runProjection } from './runs/projection.ts'
import { trafficProjection } from './traffic/projection.ts'
import { newAccounts, usageProjection } from './usage/projection.ts'
import { validationProjection } from './validation/projection.ts'

/** Handlers of decision events, one entry per slice; the list is written by hand. */
export const decisionSlices = [
  slice(rubricProjection),
  slice(projectProjection),
  slice(runProjection, newRuns),
  slice(jobProjection, newJobs),
  changesSlice,
  slice(hparamsProjection),
  slice(environmentProjection),
  slice(benchmarkProjection),
  slice(artifactProjection),
  slice(diagnosisProjection),
  slice(alertProjection),
  slice(deploymentProjection),
  slice(modelProjection),
  slice(quotaProjection),
  slice(notificationProjection),
  slice(mlflowProjection),
  slice(usageProjection, newAccounts),
  purgedRuns,
]

/** Creates every projection; called per generation because some keep caches. */
export const projections = (topics: Topics): TopicProjection[] => [
  decisionsProjection(topics.decisions.name, decisionSlices, decisionEvents),
  logsProjection(topics.logs.name),
  metricsProjection(topics.metrics.name),
  validationProjection(topics.validation.name),
  hardwareProjection(topics.hardware.name),
  trafficProjection(topics.traffic.name),
]
