import { sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { Result } from '../../projector/benchmarks/table.ts'
import { compareScores, type Measured } from '../../schemas/benchmarks/compare.ts'
import type { BenchmarkDelta } from '../../schemas/deployments/benchmark-delta.ts'
import type { Source } from '../../schemas/deployments/deployments.ts'
import { mayReadRun } from '../rules/access.ts'
import type { Db } from './find.ts'

/** Scores of one model, by benchmark. */
export type Scores = ReadonlyMap<string, Score>
type Score = Measured & {
  benchmark: string
  task: string | null
  metric: string
  isHigherBetter: boolean
}
type Reported = { run_id: string; result: Result }

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
  const { rows } = await sql<Reported>`
    select b.run_id, b.result from (
      select distinct on (run_id, result_id) run_id, result, revision from run_benchmarks
       where run_id = any(${runs}) order by run_id, result_id, revision desc) b
      join runs r on r.run_id = b.run_id
     where ${mayReadRun(caller)}
       and (b.result ->> 'artifact_id' = any(${artifacts})
            or (b.result ->> 'artifact_id' is null and b.result ->> 'step' is null))
     order by b.revision desc limit ${mostResults}`.execute(db)
  // The newest counts, where results differ in their configuration.
  rows.reverse()
  return source => {
    if (source === null) return new Map()
    const { artifact_id, run_id } = source
    const ofRun = rows.filter(row => row.run_id === run_id && row.result.artifact_id === null)
    const ofArtifact = rows.filter(({ result }) => result.artifact_id === artifact_id)
    // Scores of the artifact override scores of its run.
    return new Map([...ofRun, ...(artifact_id === null ? [] : ofArtifact)].flatMap(entriesOf))
  }
}

const entriesOf = ({ result }: Reported): [string, Score][] => {
  const { benchmark: name, version, task, split } = result
  const benchmark = version === null ? name : `${name}@${version}`
  return result.scores.flatMap(({ metric, value, stderr, higher_is_better }): [string, Score][] => {
    if (typeof value !== 'number') return []
    const score = {
      benchmark,
      task,
      metric,
      value,
      stderr,
      isHigherBetter: higher_is_better ?? true,
    }
    return [[keyOf({ benchmark, task, split, metric }), score]]
  })
}

type Key = { benchmark: string; task: string | null; split: string | null; metric: string }
const keyOf = ({ benchmark, task, split, metric }: Key): string =>
  JSON.stringify([benchmark, task, split, metric])

/** The scores that gate a deployment, by key, and whether higher is better there. */
export type Gates = ReadonlyMap<string, boolean>

export async function gatesOf(db: Db, refs: readonly string[]): Promise<Gates> {
  if (refs.length === 0) return new Map()
  const rows = await db
    .selectFrom('benchmark_versions')
    .select(['name', 'version', 'definition'])
    .where(sql<string>`name || '@' || version`, 'in', refs)
    .execute()
  return new Map(
    rows.map(({ name, version, definition }) => [
      keyOf({ benchmark: `${name}@${version}`, ...definition }),
      definition.higher_is_better,
    ]),
  )
}

/** The benchmarks of both models, in the order of the second model's. */
export function deltasOf(before: Scores, after: Scores, gates: Gates): BenchmarkDelta[] {
  return [...after].flatMap(([key, { benchmark, task, metric, isHigherBetter, ...to }]) => {
    const from = before.get(key)
    if (from === undefined) return []
    const gate = gates.get(key)
    const compared = compareScores(from, to, gate ?? isHigherBetter)
    return [
      {
        ...{ benchmark, task, metric, from: from.value, to: to.value },
        ...{ delta: compared.delta, stderr: compared.stderr, ok: compared.isNoWorse },
        refuses: gate !== undefined && compared.isWorse,
      },
    ]
  })
}
