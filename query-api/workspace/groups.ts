import { type Kysely, type SqlBool, sql } from 'kysely'
import type { HparamTables } from '../../projector/hparams/table.ts'
import type { ProjectSeries } from '../../schemas/series.ts'
import { seriesLimits } from '../../schemas/series.ts'
import { Invalid } from '../../schemas/validate.ts'

export type GroupBy =
  | { kind: 'state' }
  | { kind: 'recipe' }
  | { kind: 'tag' }
  | { kind: 'hparam'; key: string }

/** 422 for anything but `state`, `recipe`, `tag` and `hparams.<key>`. */
export function parseGroup(text: string | undefined): GroupBy | null {
  if (text === undefined) return null
  if (text === 'state' || text === 'recipe' || text === 'tag') return { kind: text }
  const [, key] = /^hparams\.(.+)$/s.exec(text) ?? []
  if (key !== undefined) return { kind: 'hparam', key }
  const msg = "Input should be 'state', 'recipe', 'tag' or 'hparams.<key>'"
  throw new Invalid([{ loc: ['query', 'group'], msg, type: 'value_error', input: text }])
}

type Run = { run_id: string; state: string; tags: string[]; recipe_name: string | null }
type Groups = Pick<ProjectSeries, 'groups' | 'left_out'>

/** The groups of these runs, the largest first. A run with several tags is in the group of each. */
export async function groupRuns(
  db: Kysely<HparamTables>,
  runs: readonly Run[],
  by: GroupBy | null,
): Promise<Groups> {
  if (by === null) return { groups: null, left_out: { groups: 0, runs: 0 } }
  const valuesOf = await valuesBy(db, runs, by)
  const groups = new Map<string | null, number[]>()
  for (const [index, run] of runs.entries())
    for (const value of valuesOf(run)) groups.set(value, [...(groups.get(value) ?? []), index])
  const ordered = [...groups]
    .map(([value, of]) => ({ value, runs: of }))
    .sort((a, b) => b.runs.length - a.runs.length || compare(a.value, b.value))
  const rest = ordered.splice(seriesLimits.groups)
  return {
    groups: ordered,
    left_out: { groups: rest.length, runs: new Set(rest.flatMap(group => group.runs)).size },
  }
}

/** By number where both are numbers; no value comes last. */
function compare(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  return Number(a) - Number(b) || (a < b ? -1 : 1)
}

async function valuesBy(
  db: Kysely<HparamTables>,
  runs: readonly Run[],
  by: GroupBy,
): Promise<(run: Run) => readonly (string | null)[]> {
  if (by.kind === 'state') return run => [run.state]
  if (by.kind === 'recipe') return run => [run.recipe_name]
  if (by.kind === 'tag') return run => (run.tags.length > 0 ? run.tags : [null])
  const { key } = by
  const rows = await db
    .selectFrom('run_hparam_values')
    .select(['run_id', 'text'])
    .where('key', '=', key)
    .where(sql<SqlBool>`run_id = any(${runs.map(run => run.run_id)})`)
    .execute()
  const values = new Map(rows.map(row => [row.run_id, row.text]))
  return run => [values.get(run.run_id) ?? null]
}
