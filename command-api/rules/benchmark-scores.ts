import type { DefinedVersion } from '../../events/benchmark-definitions.ts'
import { benchmarksAt } from '../../events/benchmarks.ts'
import type { Measured } from '../../schemas/benchmarks/compare.ts'
import type { Transaction } from '../commit/event-store.ts'

/** Weights whose scores count; null for engines that Forge does not run. */
export type Weights = { artifact_id: string | null; run_id: string | null }

/**
 * The newest score in a version of a benchmark: of the artifact itself, else of its run as a whole. Null without one that is a
 * finite number.
 */
export async function findScore(
  tx: Transaction,
  { name, version, task, split, metric }: DefinedVersion,
  { artifact_id, run_id }: Weights,
): Promise<Measured | null> {
  if (run_id === null) return null
  const { rows } = await tx.query<{ value: number | string; stderr: number | null }>({
    name: 'score_of_weights',
    text: `select score -> 'value' as value, (score ->> 'stderr')::float8 as stderr
             from (select distinct on (data ->> 'result_id') stream_version, data from write.event
                    where stream = $1 and data ->> 'benchmark' = $2 and data ->> 'version' = $3
                      and data ->> 'task' is not distinct from $4 and data ->> 'split' is not distinct from $5
                      and (data ->> 'artifact_id' = $6 or data ->> 'artifact_id' is null and data ->> 'step' is null)
                    order by data ->> 'result_id', stream_version desc) newest
             cross join lateral jsonb_array_elements(data -> 'scores') score
            where score ->> 'metric' = $7
            order by data ->> 'artifact_id' is null, stream_version desc limit 1`,
    values: [
      ...[benchmarksAt(run_id).stream, name, String(version), task, split],
      ...[artifact_id, metric],
    ],
  })
  const [row] = rows
  return row && typeof row.value === 'number' ? { value: row.value, stderr: row.stderr } : null
}
