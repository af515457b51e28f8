import type { Route } from '../auth/route.ts'
import { alertRoutes } from './alerts/routes.ts'
import { artifactRoutes, register } from './artifacts/routes.ts'
import { benchmarkRoutes } from './benchmarks/routes.ts'
import { deadLetterRoutes, type ParkedRecords } from './dead-letters/routes.ts'
import { playgroundRoutes } from './deployments/playground-routes.ts'
import type { FindTemplate } from './deployments/ports.ts'
import { deploymentRoutes } from './deployments/routes.ts'
import type { Deps } from './deps.ts'
import { deviceRoutes } from './devices/routes.ts'
import { diagnosisRoutes } from './diagnoses/routes.ts'
import { dutyRoutes } from './duties/routes.ts'
import { environmentRoutes } from './environment/routes.ts'
import { hardwareRoutes } from './hardware/routes.ts'
import { setHparams } from './hparams/decide.ts'
import { hparamsRoutes } from './hparams/routes.ts'
import { imageRegistryRoutes } from './image-registries/routes.ts'
import type { JobPorts } from './jobs/ports.ts'
import { reportJob } from './jobs/report.ts'
import { jobRoutes } from './jobs/routes.ts'
import { keyRoutes } from './keys/routes.ts'
import { lifecycleRoutes } from './lifecycle/routes.ts'
import { logRoutes } from './logs/routes.ts'
import { maintenanceRoutes } from './maintenance/routes.ts'
import { appendMetrics, metricRoutes } from './metrics/routes.ts'
import { mlflowRoutes } from './mlflow/routes.ts'
import type { MlflowPorts } from './mlflow/target.ts'
import { modelRoutes } from './models/routes.ts'
import { notificationRoutes } from './notifications/routes.ts'
import { signInConfirmer } from './oidc/confirm.ts'
import { configuredProvider, oidcRoutes } from './oidc/routes.ts'
import { profileRoutes } from './profiles/routes.ts'
import { type ProjectionAdmin, projectionRoutes } from './projections/routes.ts'
import { projectRoutes } from './projects/routes.ts'
import { queueRoutes } from './queue/routes.ts'
import { quotaRoutes } from './quotas/routes.ts'
import type { RecipePorts } from './recipes/ports.ts'
import { recipeRoutes } from './recipes/routes.ts'
import { rubricRoutes } from './rubrics/routes.ts'
import { rubricScoreRoutes } from './rubrics/score-routes.ts'
import { reportRun } from './runs/report.ts'
import { createRun, runRoutes } from './runs/routes.ts'
import { openSession } from './sessions/open-session.ts'
import type { SignInPorts } from './sessions/password-guard.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { uploadsOfRuns } from './uploads/of-runs.ts'
import { uploadRoutes } from './uploads/routes.ts'
import { userRoutes } from './users/routes.ts'
import { validationRoutes } from './validation/routes.ts'

/** Dependencies of single slices. */
export type SlicePorts = JobPorts &
  RecipePorts &
  SignInPorts & {
    projections: ProjectionAdmin
    parkedRecords: ParkedRecords
    findTemplate: FindTemplate
    /** Makes every process read the maintenance switch; resolves once this one has. */
    maintenanceSwitched: () => Promise<void>
  }

/** Every mutating route; the list is written by hand. */
export const commandRoutes = (deps: Deps, ports: SlicePorts): Route[] => [
  ...signInRoutes(deps, ports),
  ...keyRoutes(deps),
  ...deviceRoutes(deps, signIn => openSession(deps, { ...signIn, via: 'device' })),
  ...rubricRoutes(deps),
  ...notificationRoutes(deps),
  ...projectRoutes(deps),
  ...runRoutes(deps),
  ...jobRoutes(deps, ports),
  ...lifecycleRoutes(deps, { external: reportRun(deps), job: reportJob(deps) }),
  ...hparamsRoutes(deps),
  ...metricRoutes(deps),
  ...queueRoutes(deps),
  ...quotaRoutes(deps),
  ...userRoutes(deps, ports.passwords),
  ...maintenanceRoutes(deps, ports.maintenanceSwitched),
  ...profileRoutes(deps),
  ...imageRegistryRoutes(deps),
  ...recipeRoutes(deps, ports),
  ...logRoutes(deps),
  ...validationRoutes(deps),
  ...hardwareRoutes(deps),
  ...environmentRoutes(deps),
  ...benchmarkRoutes(deps),
  ...rubricScoreRoutes(deps),
  ...artifactRoutes(deps, uploadsOfRuns(deps)),
  ...alertRoutes(deps),
  ...modelRoutes(deps),
  ...deploymentRoutes(deps, ports.findTemplate),
  ...playgroundRoutes(deps, ports.findTemplate),
  ...diagnosisRoutes(deps),
  ...mlflowRoutes(deps, mlflowPorts(deps)),
  ...uploadRoutes(deps),
  ...dutyRoutes(deps),
  ...projectionRoutes(deps, ports.projections),
  ...deadLetterRoutes(deps, ports.parkedRecords),
]

const mlflowPorts = (deps: Deps): MlflowPorts => ({
  ...uploadsOfRuns(deps),
  appendMetrics: (asked, report) => appendMetrics(deps, asked, report),
  setHparams,
  createRun: request => createRun(deps, request),
  reportRun: reportRun(deps),
  registerArtifact: (asked, artifact) => register(deps, asked, artifact),
})

function signInRoutes(deps: Deps, ports: SlicePorts): Route[] {
  const provider = configuredProvider(deps)
  return [
    ...sessionRoutes(deps, { ...ports, confirm: signInConfirmer(deps, provider) }),
    ...oidcRoutes(deps, provider, signIn => openSession(deps, { ...signIn, via: 'oidc' })),
  ]
}
