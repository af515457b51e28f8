import type { RunRow } from '../../../../../schemas/runs/records.ts'

/** The chosen runs by id. */
export type Chosen = ReadonlyMap<string, RunRow>

/** Selects this run, or removes it from the selection. */
export function toggled(chosen: Chosen, run: RunRow): Chosen {
  const next = new Map(chosen)
  if (!next.delete(run.run_id)) next.set(run.run_id, run)
  return next
}

/** Selects all of these, or none of them. */
export function withAll(chosen: Chosen, runs: readonly RunRow[], isChosen: boolean): Chosen {
  const next = new Map(chosen)
  for (const run of runs)
    if (isChosen) next.set(run.run_id, run)
    else next.delete(run.run_id)
  return next
}

/** The lines of a range between two lines, in either direction. */
export function rangeOf(from: number, to: number): number[] {
  const [first, last] = from < to ? [from, to] : [to, from]
  return Array.from({ length: last - first + 1 }, (_, nth) => first + nth)
}

/** The selected runs as the table knows them now; runs no longer loaded keep their old values. */
export function newest(chosen: Chosen, loaded: () => readonly RunRow[]): Chosen {
  if (chosen.size === 0) return chosen
  const known = new Map(loaded().map(run => [run.run_id, run]))
  return new Map([...chosen].map(([id, run]) => [id, known.get(id) ?? run]))
}

/** As many as a question can show, and how many more it applies to. */
export const firstOf = <One>(all: readonly One[], most = 20): { first: One[]; more: number } => ({
  first: all.slice(0, most),
  more: Math.max(0, all.length - most),
})
