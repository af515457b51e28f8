import type { TableLine } from './use-runs.ts'

/**
 * A marked line: the run in it, and where that was last seen. Lists move without user action, so a position
 * alone would soon refer to another run. Null: the line has not been read yet.
 */
export type Mark = { id: string | null; line: number }

type IdAt = (line: number) => string | null

/** The search distance for a mark: more lines rarely arrive between two readings of a list. */
const farthest = 500

/** Null: still loading. */
export const idOf = (line: TableLine): string | null =>
  line.kind === 'group' ? `project ${line.project}` : (line.run?.run_id ?? null)

/** The current line of the marked run; null if it is gone. */
export function lineOf({ id, line }: Mark, idAt: IdAt): number | null {
  if (id === null || idAt(line) === id) return line
  for (let by = 1; by <= farthest; by++) {
    if (idAt(line + by) === id) return line + by
    if (line >= by && idAt(line - by) === id) return line - by
  }
  return null
}

/** The mark with the current knowledge; the same object if nothing changed. */
export function settled(mark: Mark, idAt: IdAt): Mark {
  const line = lineOf(mark, idAt) ?? mark.line
  const id = mark.id ?? idAt(line)
  return id === mark.id && line === mark.line ? mark : { id, line }
}

/** The line above or below; if the marked run is gone, the run that took its place or the one above it. */
export function moved(mark: Mark, by: 1 | -1, lines: number, idAt: IdAt): Mark {
  const now = lineOf(mark, idAt)
  const next = now === null ? mark.line + Math.min(0, by) : now + by
  const line = Math.max(0, Math.min(lines - 1, next))
  return { id: idAt(line), line }
}

/**
 * A key for each line to draw, from `first` on: it identifies the run, so that a press that began on one run never ends on
 * another. While chunks of the list were read at different times, one run can appear in two lines.
 */
export function keysOf(ids: readonly (string | null)[], first: number): string[] {
  const seen = new Set<string>()
  return ids.map((id, nth) => {
    if (id === null || seen.has(id)) return `line ${first + nth}`
    seen.add(id)
    return id
  })
}
