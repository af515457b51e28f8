import { type Kysely, sql } from 'kysely'
import type { LogTables } from '../../projector/logs/table.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'
import type { Feed } from '../sse/feed.ts'
import { eofFrame, frame } from '../sse/sse.ts'
import { readTail } from './tail.ts'

/**
 * The points of a run in order of arrival; `keys` null means all. Ends with the log of the run, behind every point that
 * was acknowledged before; points reported after that show up in a new read only.
 */
export const pointFeed = (
  db: Kysely<MetricTables & LogTables>,
  runId: string,
  keys: readonly string[] | null,
): Feed => ({
  key: `points of ${runId} ${JSON.stringify(keys)}`,
  wakes: { projections: ['metrics', 'logs'], key: runId },
  async read(after) {
    // Read before the points, so that points arriving in between are still sent before the end.
    const state = await readEnd(db, runId)
    const { frames, last, more } = await readTail(db, runId, { after, keys })
    return {
      frames:
        frames.length === 0
          ? null
          : Buffer.from(
              frames.map(({ last: id, points }) => frame('points', id, { points })).join(''),
            ),
      last,
      more,
      end: state === null || more ? null : eofFrame(last, { run_id: runId, state }),
    }
  },
})

/** The state with which the log of a run ended; null until all its lines and points can be read. */
export async function readEnd(db: Kysely<LogTables>, runId: string): Promise<string | null> {
  const row = await db
    .selectFrom('log_runs')
    .select('eof_state')
    .where('run_id', '=', runId)
    // Logs and metrics are projected independently.
    .where(sql<boolean>`points_are_in(${runId})`)
    .executeTakeFirst()
  return row?.eof_state ?? null
}
