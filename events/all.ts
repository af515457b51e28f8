import { artifactEvents } from './artifacts.ts'
import { deviceEvents } from './devices.ts'
import type { EventDefinition, EventOf } from './event.ts'
import { hparamsEvents } from './hparams.ts'
import { imageRegistryEvents } from './image-registries.ts'
import { jobEvents } from './jobs.ts'
import { keyEvents } from './keys.ts'
import { maintenanceEvents } from './maintenance.ts'
import { profileEvents } from './profiles.ts'
import { projectionEvents } from './projections.ts'
import { projectEvents } from './projects.ts'
import { quotaEvents } from './quotas.ts'
import { rubricEvents } from './rubrics.ts'
import { runEvents } from './runs.ts'
import { userEvents } from './users.ts'

const listed = [
  ...artifactEvents,
  ...deviceEvents,
  ...hparamsEvents,
  ...imageRegistryEvents,
  ...jobEvents,
  ...keyEvents,
  ...profileEvents,
  ...projectionEvents,
  ...maintenanceEvents,
  ...quotaEvents,
  ...projectEvents,
  ...rubricEvents,
  ...runEvents,
  ...userEvents,
] as const

/** Every event of the decision lane; the list is written by hand and checked against the projections. */
export const decisionEvents: readonly EventDefinition[] = listed
export type DecisionEvent = EventOf<(typeof listed)[number]>
