import { alerts } from './alerts.ts'
import { artifacts } from './artifacts.ts'
import { benchmarks } from './benchmarks.ts'
import { deadLetters } from './dead-letters.ts'
import { deployments } from './deployments.ts'
import { devices } from './devices.ts'
import { diagnoses } from './diagnoses.ts'
import { duties } from './duties.ts'
import { environments } from './environment.ts'
import type { Aggregate, EventDefinition } from './event.ts'
import { failedLogins } from './failed-logins.ts'
import { hparams } from './hparams.ts'
import { imageRegistries } from './image-registries.ts'
import { jobs } from './job-state.ts'
import { keys } from './keys.ts'
import { maintenance } from './maintenance.ts'
import { mlflowRuns } from './mlflow.ts'
import { models } from './models.ts'
import { notifications } from './notifications.ts'
import { playgrounds } from './playground.ts'
import { profiles } from './profiles.ts'
import { projections } from './projections.ts'
import { projects } from './projects.ts'
import { engines, queue } from './queue.ts'
import { quotas } from './quotas.ts'
import { recipes } from './recipes.ts'
import { rubrics } from './rubrics.ts'
import { runs } from './runs.ts'
import { uploads } from './uploads.ts'
import { users } from './users.ts'
import { validation } from './validation.ts'

const listed = [
  alerts,
  artifacts,
  benchmarks,
  deadLetters,
  deployments,
  devices,
  diagnoses,
  duties,
  engines,
  environments,
  failedLogins,
  hparams,
  imageRegistries,
  jobs,
  keys,
  maintenance,
  mlflowRuns,
  models,
  notifications,
  playgrounds,
  profiles,
  projections,
  projects,
  queue,
  quotas,
  recipes,
  rubrics,
  runs,
  uploads,
  users,
  validation,
] as const

/** Every aggregate; the list is written by hand. */
export const aggregates: readonly Aggregate[] = listed

/** An event of any aggregate. */
export type DecisionEvent = (typeof listed)[number] extends infer A
  ? A extends Aggregate<infer _, infer E>
    ? E
    : never
  : never

/** Every decision event, in the order of the aggregates. */
export const decisionEvents: readonly EventDefinition[] = aggregates.flatMap(({ events }) => events)
