import { chunkRows, chunksFor } from './chunks.ts'

/** A group of runs. Without a project it holds all runs of the list, and has no heading line. */
export type Group = { project: string | null; rows: number; isOpen: boolean }

export type Line =
  | { kind: 'group'; group: Group }
  /** The `nth` run of its group. */
  | { kind: 'run'; project: string | null; nth: number }

/** A request for runs: the project, and the rows within it. */
export type Chunk = { project: string | null; chunk: number }

const headOf = ({ project }: Group) => (project === null ? 0 : 1)
const linesOfGroup = (group: Group) => headOf(group) + (group.isOpen ? group.rows : 0)

export const countLines = (groups: readonly Group[]): number =>
  groups.reduce((sum, group) => sum + linesOfGroup(group), 0)

/** The content of a line of the table, counted from 0; null past the end. */
export function lineAt(groups: readonly Group[], line: number): Line | null {
  let left = line
  for (const group of groups) {
    if (left < linesOfGroup(group)) {
      const nth = left - headOf(group)
      return nth < 0 ? { kind: 'group', group } : { kind: 'run', project: group.project, nth }
    }
    left -= linesOfGroup(group)
  }
  return null
}

/** The requests that cover the lines `from` to `to`, and some around them. */
export function chunksOfLines(groups: readonly Group[], from: number, to: number): Chunk[] {
  const chunks: Chunk[] = []
  let start = 0
  for (const group of groups) {
    const first = Math.max(0, from - start - headOf(group))
    const last = Math.min(group.rows - 1, to - start - headOf(group))
    if (group.isOpen && first < group.rows && last >= 0)
      for (const chunk of chunksFor(first, last, group.rows))
        chunks.push({ project: group.project, chunk })
    start += linesOfGroup(group)
  }
  return chunks
}

/** Every request that the open groups could make. */
export const allChunks = (groups: readonly Group[]): Chunk[] =>
  groups
    .filter(({ isOpen }) => isOpen)
    .flatMap(({ project, rows }) =>
      Array.from({ length: Math.ceil(rows / chunkRows) }, (_, chunk) => ({ project, chunk })),
    )
