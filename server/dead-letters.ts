import { Gauge } from 'prom-client'
import type { ParkedRecords } from '../command-api/dead-letters/routes.ts'
import type { Check } from '../platform/readiness.ts'
import { countParked } from '../projector/dead-letters/count.ts'
import { replayParked, takeParked } from '../projector/dead-letters/replay.ts'
import { projections } from '../projector/slices.ts'
import type { Core } from './core.ts'

/** What administrators can do with records that a projection has parked. */
export function openParkedRecords({ topics }: Core): ParkedRecords {
  // Of its own: those of the runners have caches that only their transactions may fill.
  const projectionOf = (topic: string) => projections(topics).find(one => one.topic === topic)
  return {
    async replay(tx, letter) {
      const projection = projectionOf(letter.topic)
      return (projection && (await replayParked(tx, projection, letter))?.key) ?? null
    },
    drop: async (tx, letter) => (await takeParked(tx, letter))?.key ?? null,
  }
}

/** Parked records need a person, and another process would do no better. */
export async function deadLettersCheck({ readPool }: Core): Promise<Check> {
  const counts = await countParked(readPool)
  const parked = counts.reduce((sum, { parked }) => sum + parked, 0)
  return { ok: true, degraded: parked > 0, parked }
}

/** Counted at each scrape; every process reports the same numbers, so take the maximum, not the sum. */
export function gaugeDeadLetters({ readPool, telemetry }: Core): void {
  new Gauge({
    name: 'forge_dead_letters_parked',
    help: 'Acknowledged records that could not be applied and wait for a person.',
    labelNames: ['topic'],
    registers: [telemetry.registry],
    async collect() {
      const counts = await countParked(readPool).catch(() => null)
      this.reset()
      for (const { topic, parked } of counts ?? []) this.set({ topic }, parked)
    },
  })
}
