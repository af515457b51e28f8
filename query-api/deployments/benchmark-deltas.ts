import { sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { Result } from '../../projector/benchmarks/table.ts'
import type { BenchmarkDelta, Source } from '../../schemas/deployments/deployments.ts'
import { mayReadRun } from '../rules/access.ts'
import type { Db } from './find.ts'

/** Scores of one model, by benchmark. */
export type Scores = ReadonlyMap<string, Score>
type Score = {
  benchmark: string
  task: string | null
  metric: string
  value: number
  isHigherBetter: boolean
}
type Measured = { run_id: string; result: Result }

/** Maximum results read for one page of revisions; models have tens of them. */
const mostResults = 5000

/**
 * The scores of each source, by artifact: scores recorded for the artifact itself, else those of its whole run. Runs
 * that the caller may not read contribute none.
 */
export async function scoresOf(
  db: Db,
  caller: Person,
  sources: readonly (Source | null)[],
): Promise<(source: Source | null) => Scores> {
  const known = sources.filter(one => one !== null)
  const artifacts = known.flatMap(({ artifact_id }) => artifact_id ?? [])
  const runs = [...new Set(known.flatMap(({ run_id }) => run_id ?? []))]
  if (runs.length === 0) return () => new Map()
  const { rows } = await sql<Measured>`
    select b.run_id, b.result from (
      select distinct on (run_id, result_id) run_id, result from run_benchmarks
       where run_id = any(${runs}) order by run_id, result_id, revision desc) b
      join runs r on r.run_id = b.run_id
     where ${mayReadRun(caller)}
       and (b.result ->> 'artifact_id' = any(${artifacts})
            or (b.result ->> 'artifact_id' is null and b.result ->> 'step' is null))
     limit ${mostResults}`.execute(db)
  return source => {
    if (source === null) return new Map()
    const { artifact_id, run_id } = source
    const ofRun = rows.filter(row => row.run_id === run_id && row.result.artifact_id === null)
    const ofArtifact = rows.filter(({ result }) => result.artifact_id === artifact_id)
    // Scores of the artifact override scores of its run.
    return new Map([...ofRun, ...(artifact_id === null ? [] : ofArtifact)].flatMap(entriesOf))
  }
}

const entriesOf = ({ result }: Measured): [string, Score][] => {
  const { benchmark: name, version, task, split } = result
  const benchmark = version === null ? name : `${name}@${version}`
  return result.scores.flatMap(({ metric, value, higher_is_better }): [string, Score][] => {
    if (typeof value !== 'number') return []
    const score = { benchmark, task, metric, value, isHigherBetter: higher_is_better ?? true }
    return [[JSON.stringify([benchmark, task, split, metric]), score]]
  })
}

/** The benchmarks of both models, in the order of the second model's. */
export function deltasOf(before: Scores, after: Scores): BenchmarkDelta[] {
  return [...after].flatMap(([key, { benchmark, task, metric, value: to, isHigherBetter }]) => {
    const from = before.get(key)?.value
    if (from === undefined) return []
    const delta = Number((to - from).toPrecision(12))
    return [
      { benchmark, task, metric, from, to, delta, ok: isHigherBetter ? delta >= 0 : delta <= 0 },
    ]
  })
}
