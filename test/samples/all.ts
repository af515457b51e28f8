import { alertSample } from './alerts.ts'
import { artifactSample } from './artifacts.ts'
import { auditSample } from './audit.ts'
import { benchmarkSample } from './benchmarks.ts'
import { changeSample } from './changes.ts'
import { deadLetterSample } from './dead-letters.ts'
import { deploymentSample } from './deployments.ts'
import { deviceSample } from './devices.ts'
import { diagnosisSample } from './diagnoses.ts'
import { dutySample } from './duties.ts'
import { environmentSample } from './environment.ts'
import { hardwareSample } from './hardware.ts'
import { hparamSample } from './hparams.ts'
import { imageRegistrySample } from './image-registries.ts'
import { jobSample } from './jobs.ts'
import { lifecycleSample } from './lifecycle.ts'
import { logSample } from './logs.ts'
import { maintenanceSample } from './maintenance.ts'
import { metricSample } from './metrics.ts'
import { mlflowSample } from './mlflow.ts'
import { modelSample } from './models.ts'
import { notificationSample } from './notifications.ts'
import { pageSample } from './pages.ts'
import { profileSample } from './profiles.ts'
import { projectionSample } from './projections.ts'
import { projectSample } from './projects.ts'
import { queueSample } from './queue.ts'
import { quotaSample } from './quotas.ts'
import { recipeSample } from './recipes.ts'
import { rubricSample } from './rubrics.ts'
import { runSample } from './runs.ts'
import type { Sample } from './sample.ts'
import { sessionSample } from './sessions.ts'
import { streamSample } from './streams.ts'
import { uploadSample } from './uploads.ts'
import { usageSample } from './usage.ts'
import { userSample } from './users.ts'
import { validationSample } from './validation.ts'

/** Routes that name nothing, store nothing and accept the smallest body. */
const keySample: Sample = { slice: 'keys' }
const oidcSample: Sample = { slice: 'oidc' }

/** The sample of every slice, listed by hand; a sample that needs another is listed below it. */
export const samples: readonly Sample[] = [
  userSample,
  sessionSample,
  oidcSample,
  keySample,
  notificationSample,
  deviceSample,
  maintenanceSample,
  imageRegistrySample,
  quotaSample,
  queueSample,
  profileSample,
  projectionSample,
  dutySample,
  deadLetterSample,
  recipeSample,
  pageSample,
  rubricSample,
  runSample,
  lifecycleSample,
  hparamSample,
  metricSample,
  logSample,
  validationSample,
  hardwareSample,
  environmentSample,
  benchmarkSample,
  artifactSample,
  diagnosisSample,
  alertSample,
  mlflowSample,
  uploadSample,
  projectSample,
  modelSample,
  deploymentSample,
  jobSample,
  usageSample,
  changeSample,
  streamSample,
  auditSample,
]
