import type { TableLine } from './use-runs.ts'

/**
 * A line that somebody marked: what stands in it, and where that was last seen. Lists move by themselves, so a place
 * alone would soon mean another run. Null: what stands there was not read yet.
 */
export type Mark = { id: string | null; line: number }

type IdAt = (line: number) => string | null

/** Farther away than this a mark is not looked for: more lines hardly arrive between two readings of a list. */
const farthest = 500

/** Null: it is on its way. */
export const idOf = (line: TableLine): string | null =>
  line.kind === 'group' ? `project ${line.project}` : (line.run?.run_id ?? null)

/** The line in which what was marked stands now; null where it is gone. */
export function lineOf({ id, line }: Mark, idAt: IdAt): number | null {
  if (id === null || idAt(line) === id) return line
  for (let by = 1; by <= farthest; by++) {
    if (idAt(line + by) === id) return line + by
    if (line >= by && idAt(line - by) === id) return line - by
  }
  return null
}

/** The mark with what is known now; the same one where nothing is new. */
export function settled(mark: Mark, idAt: IdAt): Mark {
  const line = lineOf(mark, idAt) ?? mark.line
  const id = mark.id ?? idAt(line)
  return id === mark.id && line === mark.line ? mark : { id, line }
}

/** The line above or below; from a mark that is gone, what took its place or stood above it. */
export function moved(mark: Mark, by: 1 | -1, lines: number, idAt: IdAt): Mark {
  const now = lineOf(mark, idAt)
  const next = now === null ? mark.line + Math.min(0, by) : now + by
  const line = Math.max(0, Math.min(lines - 1, next))
  return { id: idAt(line), line }
}

/**
 * A key of each line to draw, from `first` on: of what stands in it, so that a press that began on one run never ends on
 * another. While chunks of the list are of different times one run can stand in two lines.
 */
export function keysOf(ids: readonly (string | null)[], first: number): string[] {
  const seen = new Set<string>()
  return ids.map((id, nth) => {
    if (id === null || seen.has(id)) return `line ${first + nth}`
    seen.add(id)
    return id
  })
}
