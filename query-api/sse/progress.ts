import type { Pool } from 'pg'
import type { Projected } from '../../schemas/wake-ups.ts'

/** The progress of each projection: the sum of its partitions' offsets, which every commit raises. */
export type Progress = ReadonlyMap<string, number>

export async function projectionProgress(pool: Pool): Promise<Progress> {
  const { rows } = await pool.query<{ projection: string; progress: string }>({
    name: 'projection_progress',
    text: `select projection, sum(next_offset)::text as progress from projection_checkpoint
            group by projection`,
  })
  return new Map(rows.map(({ projection, progress }) => [projection, Number(progress)]))
}

export type Coverage = {
  /** Notes a wake-up: one that continues where the last one ended leaves no gap. */
  hear(message: Projected): void
  /** The projections that have advanced further than the wake-ups heard; from then on they count as heard. */
  missed(progress: Progress): Set<string>
}

/**
 * Detects lost wake-ups, separately per projection: others may continue to arrive. Out-of-order and truncated
 * messages count as lost, which costs at most one extra look.
 */
export function createCoverage(): Coverage {
  const heard = new Map<string, number>()
  return {
    hear({ projection, after, upTo }) {
      const before = heard.get(projection)
      if (before !== undefined && after <= before && upTo > before) heard.set(projection, upTo)
    },
    missed(progress) {
      const missed = new Set<string>()
      for (const [projection, upTo] of progress) {
        if (heard.get(projection) !== upTo) missed.add(projection)
        heard.set(projection, upTo)
      }
      return missed
    },
  }
}
