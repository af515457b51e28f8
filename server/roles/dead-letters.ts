import { Gauge } from 'prom-client'
import type { ParkedRecords } from '../../command-api/dead-letters/routes.ts'
import type { Check } from '../../platform/readiness.ts'
import { Refusal } from '../../platform/refusal.ts'
import { projections } from '../../projector/compose.ts'
import { countParked } from '../../projector/dead-letters/count.ts'
import { DuringRebuild, replayParked, takeParked } from '../../projector/dead-letters/replay.ts'
import type { Core } from '../core.ts'

/** The administrators' operations on records that a projection has parked. */
export function openParkedRecords({ topics, signals }: Core): ParkedRecords {
  // Separate projections: the caches of the runners' ones may only be filled by the runners' transactions.
  const projectionOf = (topic: string) => projections(topics).find(one => one.topic === topic)
  return {
    async replay(tx, letter) {
      const projection = projectionOf(letter.topic)
      if (!projection) return null
      return (await replayParked(tx, projection, letter).catch(refuseDuringRebuild))?.key ?? null
    },
    drop: async (tx, letter) =>
      (await takeParked(tx, letter).catch(refuseDuringRebuild))?.key ?? null,
    replayed({ topic }, key) {
      const projection = projectionOf(topic)?.name
      // A replay moves no checkpoint.
      if (projection) signals.publish('projected', { projection, keys: [key], after: 0, upTo: 0 })
    },
  }
}

function refuseDuringRebuild(error: unknown): never {
  if (!(error instanceof DuringRebuild)) throw error
  throw new Refusal(
    'conflict',
    'The read models are being rebuilt, which tries all parked records again; try this after it has ended',
    { code: 'dead_letter.rebuild_running', cause: error },
  )
}

/** Parked records need a person; another process could not apply them either. */
export async function deadLettersCheck({ readPool }: Core): Promise<Check> {
  const counts = await countParked(readPool)
  const parked = counts.reduce((sum, { parked }) => sum + parked, 0)
  return { ok: true, degraded: parked > 0, parked }
}

/** Counted at each scrape; every process reports the same numbers, so take the maximum, not the sum. */
export function gaugeDeadLetters({ readPool, telemetry }: Core): void {
  new Gauge({
    name: 'forge_dead_letters_parked',
    help: 'Acknowledged records that could not be applied and need a person.',
    labelNames: ['topic'],
    registers: [telemetry.registry],
    async collect() {
      const counts = await countParked(readPool).catch(() => null)
      this.reset()
      for (const { topic, parked } of counts ?? []) this.set({ topic }, parked)
    },
  })
}
