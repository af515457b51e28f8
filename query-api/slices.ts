import type { Pool } from 'pg'
import type { Route } from '../auth/route.ts'
import type { QueueBook } from '../events/calculations/queue-picture.ts'
import type { Clock } from '../platform/time.ts'
import type { AlertTables } from '../projector/alerts/table.ts'
import type { ArtifactTables } from '../projector/artifacts/table.ts'
import type { BenchmarkTables } from '../projector/benchmarks/table.ts'
import type { ChangeTables } from '../projector/changes/table.ts'
import type { DeadLetterTables } from '../projector/dead-letters/table.ts'
import type { DeploymentTables } from '../projector/deployments/table.ts'
import type { DiagnosisTables } from '../projector/diagnoses/table.ts'
import type { EnvironmentTables } from '../projector/environment/table.ts'
import type { HardwareTables } from '../projector/hardware/table.ts'
import type { HparamTables } from '../projector/hparams/table.ts'
import type { JobTables } from '../projector/jobs/table.ts'
import type { LogTables } from '../projector/logs/table.ts'
import type { MetricTables } from '../projector/metrics/table.ts'
import type { MlflowTables } from '../projector/mlflow/table.ts'
import type { ModelTables } from '../projector/models/table.ts'
import type { NotificationTables } from '../projector/notifications/table.ts'
import type { ProjectTables } from '../projector/projects/table.ts'
import type { QuotaTables } from '../projector/quotas/table.ts'
import type { RubricTables } from '../projector/rubrics/table.ts'
import type { RunTables } from '../projector/runs/table.ts'
import type { TrafficTables } from '../projector/traffic/table.ts'
import type { UsageTables } from '../projector/usage/table.ts'
import type { ValidationTables } from '../projector/validation/table.ts'
import { alertRoutes } from './alerts/routes.ts'
import { alertTopic } from './alerts/topic.ts'
import { type Contents, sendContent } from './artifacts/content.ts'
import { artifactRoutes } from './artifacts/routes.ts'
import { type AuditReader, auditRoutes } from './audit/routes.ts'
import { benchmarkRoutes } from './benchmarks/routes.ts'
import { changeTopic } from './changes/topic.ts'
import { deadLetterRoutes } from './dead-letters/routes.ts'
import { playgroundRoutes } from './deployments/playground.ts'
import { deploymentRoutes } from './deployments/routes.ts'
import { trafficRoutes } from './deployments/traffic.ts'
import { deviceRoutes } from './devices/routes.ts'
import { diagnosisRoutes } from './diagnoses/routes.ts'
import { environmentRoutes } from './environment/routes.ts'
import { hardwareRoutes } from './hardware/routes.ts'
import { hparamRoutes } from './hparams/routes.ts'
import { imageRegistryRoutes } from './image-registries/routes.ts'
import { jobRoutes } from './jobs/routes.ts'
import { logRoutes } from './logs/routes.ts'
import { logTopic } from './logs/topic.ts'
import { maintenanceRoutes } from './maintenance/routes.ts'
import { readHistory } from './metrics/export.ts'
import { metricRoutes } from './metrics/routes.ts'
import { metricTopic } from './metrics/topic.ts'
import { mlflowRoutes } from './mlflow/routes.ts'
import { modelRoutes } from './models/routes.ts'
import { notificationRoutes } from './notifications/routes.ts'
import { notificationTopic } from './notifications/topic.ts'
import { countUnread } from './notifications/unread.ts'
import type { Assets } from './pages/assets.ts'
import { pageRoutes } from './pages/routes.ts'
import { profileRoutes } from './profiles/routes.ts'
import { projectRoutes } from './projects/routes.ts'
import { queueRoutes } from './queue/routes.ts'
import { quotaRoutes } from './quotas/routes.ts'
import type { Reads } from './reads.ts'
import { type Recipes, recipeRoutes } from './recipes/routes.ts'
import { rubricRoutes } from './rubrics/routes.ts'
import { runRoutes } from './runs/routes.ts'
import { type OwnFigures, type SignInSettings, sessionRoutes } from './sessions/routes.ts'
import type { OpenStream } from './sse.ts'
import { streamRoutes } from './streams/routes.ts'
import type { Topic } from './topic.ts'
import { usageRoutes } from './usage/routes.ts'
import { userRoutes } from './users/routes.ts'
import { validationRoutes } from './validation/routes.ts'

/** The tables a query may see. */
export type ReadTables = AlertTables &
  ArtifactTables &
  BenchmarkTables &
  ChangeTables &
  DeadLetterTables &
  DeploymentTables &
  EnvironmentTables &
  HardwareTables &
  DiagnosisTables &
  HparamTables &
  JobTables &
  LogTables &
  MetricTables &
  MlflowTables &
  ModelTables &
  NotificationTables &
  ProjectTables &
  QuotaTables &
  RubricTables &
  RunTables &
  TrafficTables &
  UsageTables &
  ValidationTables

export type QueryDeps = {
  reads: Reads<ReadTables>
  /**
   * Connections to the schemas `auth`, for data about the caller, and `write`, for wait reasons and data without a
   * read model.
   */
  pool: Pool
  queue: QueueBook
  openStream: OpenStream
  now: Clock
  catalogue: Recipes
  audit: AuditReader
  signIn: SignInSettings
  /** The contents of artifacts. */
  contents: Pick<Contents, 'store' | 'key' | 'baseUrl'>
  /** The console; null if it is not built here. */
  assets: Assets | null
}

/** Safe: the type parameter only narrows which tables may be selected from. */
const narrowed = <T>(reads: Reads<ReadTables>): Reads<T> => reads as Reads<unknown> as Reads<T>

/** The topics of `/api/stream`. New ones go last: clients hold cursors in this order. */
const streamTopics = (reads: Reads<ReadTables>): Topic[] => [
  changeTopic(narrowed(reads)),
  notificationTopic(narrowed(reads)),
  alertTopic(narrowed(reads)),
  metricTopic(narrowed(reads)),
  logTopic(narrowed(reads)),
]

/** Every read-only route; the list is written by hand. */
export const queryRoutes = (deps: QueryDeps): Route[] => {
  const only = <T>(): Reads<T> => narrowed(deps.reads)
  const { openStream, now, pool } = deps
  const figures: OwnFigures = { unread_notifications: countUnread(only()) }
  return [
    ...pageRoutes(deps.assets),
    ...recipeRoutes(deps.catalogue),
    ...profileRoutes(pool),
    ...imageRegistryRoutes(pool),
    ...sessionRoutes({ reads: only(), pool, now, signIn: deps.signIn, figures }),
    ...deviceRoutes(pool, now),
    ...rubricRoutes(only()),
    ...notificationRoutes(only()),
    ...quotaRoutes({ reads: only(), pool }),
    ...queueRoutes({ reads: only(), queue: deps.queue }),
    ...userRoutes({ reads: only(), pool }),
    ...maintenanceRoutes(pool),
    ...jobRoutes({ reads: only(), pool, queue: deps.queue, now }),
    ...usageRoutes(only(), now),
    ...runRoutes(only(), now),
    ...metricRoutes({ reads: only(), openStream }),
    ...projectRoutes(only()),
    ...logRoutes({ reads: only(), openStream }),
    ...validationRoutes(only()),
    ...streamRoutes({ topics: streamTopics(deps.reads), openStream }),
    ...hparamRoutes(only()),
    ...environmentRoutes(only()),
    ...benchmarkRoutes(only()),
    ...hardwareRoutes(only()),
    ...artifactRoutes({ ...deps.contents, reads: only(), now }),
    ...diagnosisRoutes(only(), now),
    ...alertRoutes(only()),
    ...deploymentRoutes(only(), { pool, baseUrl: deps.contents.baseUrl, now }),
    ...playgroundRoutes({ pool, baseUrl: deps.contents.baseUrl, now }),
    ...trafficRoutes(only(), now),
    ...modelRoutes(only()),
    ...deadLetterRoutes(only()),
    ...mlflowRoutes({
      reads: only(),
      pool,
      readHistory,
      sendContent: (ctx, file) => sendContent(deps.contents, ctx, file),
    }),
    ...auditRoutes({ reads: only(), audit: deps.audit, now }),
  ]
}
