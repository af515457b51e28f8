import type { Pool } from 'pg'
import { artifactAt, type DeletionRequested } from '../../events/artifacts.ts'
import { jobAt } from '../../events/job-state.ts'
import type { JobEvent } from '../../events/jobs.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { type Change, type Outcome, rows } from '../effects/outcome.ts'
import { requestDeletion } from './decide.ts'
import { type BestBy, expiredBy, type KeepRules } from './keep.ts'
import { everything, type Protection, protectionsOf } from './protection.ts'
import {
  checkpointsOf,
  deletionOf,
  freedBy,
  lockArtifacts,
  markDeleted,
  type StoredCheckpoint,
} from './rows.ts'

/** Locked by every deletion of a run's artifacts, so that each sees the result of the others. */
export const checkpointLock = (run_id: string): string => `checkpoints of ${run_id}`

/** A run's own rules; null: it has no job, or was admitted without rules. */
export async function rulesOf(
  { store }: Pick<Deps, 'store'>,
  run_id: string,
): Promise<{ keep: KeepRules | null; metric: BestBy | null }> {
  const { events } = await store.load<JobEvent>(jobAt(run_id).stream)
  const admitted = events.find(event => event.type === 'job.admitted')
  return admitted?.data.spec.spec.checkpoints ?? { keep: null, metric: null }
}

export type Rules = {
  run_id: string
  keep: KeepRules
  metric: BestBy | null
  /** Only those registered before; null: all. */
  before: Date | null
}

export type Expired = {
  /** The oldest first. */
  unneeded: StoredCheckpoint[]
  needed: (StoredCheckpoint & { protection: Protection })[]
  /** Number of checkpoints that the rules keep. */
  kept: number
}

/** The checkpoints of a run that its rules would delete, split into unneeded and needed ones. */
export async function expiredOf(
  db: Pool | Transaction,
  { run_id, keep, metric, before }: Rules,
): Promise<Expired> {
  const all = await checkpointsOf(db, run_id)
  const ids = new Set(expiredBy(all, keep, metric).map(one => one.artifact_id))
  const byAge = (a: StoredCheckpoint, b: StoredCheckpoint) => (a.step ?? -1) - (b.step ?? -1)
  const expired = all
    .filter(one => ids.has(one.artifact_id) && (before === null || one.registered_at < before))
    .sort((a, b) => byAge(a, b) || (a.artifact_id < b.artifact_id ? -1 : 1))
  const protections =
    expired.length === 0
      ? new Map<string, Protection>()
      : await protectionsOf(
          db,
          expired.map(one => one.artifact_id),
          everything,
        )
  const withProtection = expired.map(one => ({ one, protection: protections.get(one.artifact_id) }))
  return {
    unneeded: withProtection.flatMap(({ one, protection }) => (protection ? [] : one)),
    needed: withProtection.flatMap(({ one, protection }) =>
      protection ? { ...one, protection } : [],
    ),
    kept: all.length - expired.length,
  }
}

/** The deleted artifacts, and how many bytes of the store that frees. */
export type Deleted = { deleted: readonly string[]; freed: number }

/**
 * Deletes these checkpoints if the rules still say so and nothing needs them once the rows are locked. `told` is called at the
 * end of the transaction, once for each try.
 */
export function deletionsBy(
  rules: Rules,
  chosen: readonly StoredCheckpoint[],
  reason: DeletionRequested['reason'],
  told: (done: Deleted) => void = () => {},
): Outcome {
  let free = new Set<string>()
  const deleted: string[] = []
  const look: Change = {
    stream: checkpointLock(rules.run_id),
    async make({ tx }) {
      deleted.length = 0
      await lockArtifacts(
        tx,
        chosen.map(one => one.artifact_id),
      )
      const { unneeded } = await expiredOf(tx, rules)
      free = new Set(unneeded.map(one => one.artifact_id))
    },
  }
  const deletions = chosen.map((one): Change => {
    const { artifact_id } = one
    const target = artifactAt(artifact_id)
    return {
      stream: target.stream,
      async make(work) {
        if (!free.has(artifact_id)) return
        const { events } = await work.decide(target, {
          decide: artifact => requestDeletion(artifact, deletionOf(one, reason)),
          alongside: (tx, { now }) => markDeleted(tx, artifact_id, now),
        })
        if (events.length > 0) deleted.push(artifact_id)
      },
    }
  })
  const tell = rows(async tx => told({ deleted, freed: (await freedBy(tx, deleted)) ?? 0 }))
  return [look, ...deletions, tell]
}
