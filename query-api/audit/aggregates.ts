import { evolve as artifactEvolve } from '../../command-api/artifacts/decide.ts'
import { evolve as deviceEvolve, undecided } from '../../command-api/devices/decide.ts'
import type { Aggregate } from '../../command-api/handle.ts'
import { evolve as hparamsEvolve, noHparams } from '../../command-api/hparams/decide.ts'
import {
  noRegistries,
  evolve as registriesEvolve,
} from '../../command-api/image-registries/decide.ts'
import { jobAggregate } from '../../command-api/jobs/change.ts'
import { evolve as maintenanceEvolve, serving } from '../../command-api/maintenance/decide.ts'
import { evolve as profileEvolve } from '../../command-api/profiles/decide.ts'
import { noProject, evolve as projectEvolve } from '../../command-api/projects/decide.ts'
import { evolve as quotaEvolve } from '../../command-api/quotas/decide.ts'
import { noRubric, evolve as rubricEvolve } from '../../command-api/rubrics/decide.ts'
import { runAggregate } from '../../command-api/runs/report.ts'
import { noUser, evolve as userEvolve } from '../../command-api/users/decide.ts'
import type { Event } from '../../events/event.ts'

type AnyAggregate = Aggregate<unknown, Event>

/** Forgets the types of a state and its events, so that all kinds can stand in one table. */
const kind = <S, E extends Event>(aggregate: Aggregate<S, E>): AnyAggregate =>
  aggregate as unknown as AnyAggregate

/** For what no rule reads: the newest value of each field that its events name. */
const newestValues: AnyAggregate = {
  initial: {},
  evolve: (state, event) => ({ ...(state as object), ...event.data }),
}

/** How the events of each kind of target fold: by the very functions the commands decide with. */
export const aggregates: Readonly<Record<string, AnyAggregate>> = {
  artifact: kind({ initial: null, evolve: artifactEvolve }),
  device: kind({ initial: undecided, evolve: deviceEvolve }),
  hparams: kind({ initial: noHparams, evolve: hparamsEvolve }),
  image_registries: kind({ initial: noRegistries, evolve: registriesEvolve }),
  job: kind(jobAggregate),
  keys: newestValues,
  maintenance: kind({ initial: serving, evolve: maintenanceEvolve }),
  profile: kind({ initial: null, evolve: profileEvolve }),
  project: kind({ initial: noProject, evolve: projectEvolve }),
  projection: newestValues,
  quota: kind({ initial: null, evolve: quotaEvolve }),
  rubric: kind({ initial: noRubric, evolve: rubricEvolve }),
  run: kind(runAggregate),
  user: kind({ initial: noUser, evolve: userEvolve }),
}

export const aggregateOf = (targetType: string): AnyAggregate =>
  aggregates[targetType] ?? newestValues
