import { keepPreviousData, type QueryKey, useQueries, useQuery } from '@tanstack/react-query'
import { useCallback, useRef, useState } from 'react'
import type { RunRow, RunsOfProject } from '../../../../../schemas/runs/records.ts'
import { type Page, queries, reading, readingPage } from '../../session/api.ts'
import { chunkRows, countOf } from './chunks.ts'
import { allChunks, type Chunk, chunksOfLines, countLines, type Group, lineAt } from './lines.ts'

export type TableLine =
  | { kind: 'group'; project: string; runs: number; isOpen: boolean }
  /** Undefined while loading. */
  | { kind: 'run'; run: RunRow | undefined }

export type Runs = {
  at(line: number): TableLine
  /** Lines of the table. */
  lines: number
  /** Runs of the search. */
  count: number
  /** False where the server stops counting. */
  isCounted: boolean
  isKnown: boolean
  /** Rows in view are loading. */
  isReading: boolean
  error: unknown
  /** The range in view, as lines from 0. */
  show(from: number, to: number): void
  /** All rows read of the open groups, in order. */
  loaded(): RunRow[]
}

type Asked = {
  q: string
  sort: string
  metrics: string | undefined
  hparams: string | undefined
  /** Only runs with a star; undefined: with or without. */
  starred: boolean | undefined
  archived: boolean | undefined
  /** Null: not grouped. Otherwise the collapsed projects. */
  closed: readonly string[] | null
}

/** Lines drawn before anything is known. */
const placeholders = 12

type Rows = Omit<Asked, 'closed'>

/** A part of the list, by default its beginning. */
export const readingRuns = (of: Rows, { project, chunk }: Chunk = { project: null, chunk: 0 }) => {
  const { q, starred, archived, sort, metrics, hparams } = of
  return readingPage<RunRow>('/api/runs', {
    ...{ q, starred, archived, sort, metrics, hparams, project },
    ...{ limit: chunkRows, offset: chunk * chunkRows },
  })
}

/** The runs of a search in an order, read as they come into view. */
export function useRuns({ closed, ...of }: Asked): Runs {
  const { q, sort, starred, archived } = of
  const [view, setView] = useState({ from: 0, to: 40 })
  const page = (chunk: Chunk) => readingRuns(of, chunk)
  const isGrouped = closed !== null
  const projects = useQuery({
    ...reading<RunsOfProject[]>('/api/runs/by-project', { q, starred, archived }),
    enabled: isGrouped,
    placeholderData: keepPreviousData,
  })
  const first = useQuery({
    ...readingRuns(of),
    enabled: !isGrouped,
    placeholderData: keepPreviousData,
  })
  const cached = (chunk: Chunk) => queries.getQueryData<Page<RunRow>>(page(chunk).queryKey)?.rows
  const total = first.data === undefined ? 0 : first.data.total
  const sizes = useSizes(
    JSON.stringify([q, sort, starred, archived]),
    view.to,
    chunk => cached({ project: null, chunk })?.length,
  )
  const groups: Group[] = isGrouped
    ? (projects.data ?? []).map(({ project, runs }) => ({
        ...{ project, rows: runs },
        isOpen: !closed.includes(project),
      }))
    : [{ project: null, rows: countOf(total, sizes), isOpen: true }]
  const wanted = chunksOfLines(groups, view.from, view.to)
  const reads = useQueries({ queries: wanted.map(page) })
  // Reading `data` makes the table follow it; the rows themselves come from everything that was read.
  const isReading = reads.filter(({ data }) => data === undefined).length > 0
  const rowsOf = ({ project, chunk }: Chunk) =>
    cached({ project, chunk }) ?? (project === null && chunk === 0 ? first.data?.rows : undefined)
  const known = isGrouped ? projects : first
  return {
    at(nth) {
      const line = lineAt(groups, nth)
      if (line?.kind === 'group') {
        const { project, rows, isOpen } = line.group
        return { kind: 'group', project: String(project), runs: rows, isOpen }
      }
      if (line === null) return { kind: 'run', run: undefined }
      const chunk = Math.floor(line.nth / chunkRows)
      const rows = rowsOf({ project: line.project, chunk })
      return { kind: 'run', run: rows?.[line.nth % chunkRows] }
    },
    lines: known.isPending ? placeholders : countLines(groups),
    count: groups.reduce((sum, { rows }) => sum + rows, 0),
    isCounted: isGrouped || total !== null,
    isKnown: known.data !== undefined,
    isReading,
    error: known.error ?? reads.find(({ error }) => error)?.error ?? null,
    show: useCallback((from: number, to: number) => {
      setView(now => (now.from === from && now.to === to ? now : { from, to }))
    }, []),
    loaded: () => allChunks(groups).flatMap(chunk => rowsOf(chunk) ?? []),
  }
}

/** How many rows the visible chunks had; the last chunks show the length of a list without a known count. */
function useSizes(
  list: string,
  to: number,
  sizeOf: (chunk: number) => number | undefined,
): ReadonlyMap<number, number> {
  const known = useRef({ list, sizes: new Map<number, number>() })
  if (known.current.list !== list) known.current = { list, sizes: new Map() }
  const { sizes } = known.current
  const inView = Math.floor(to / chunkRows)
  for (let chunk = Math.max(0, inView - 1); chunk <= inView + 1; chunk++) {
    const size = sizeOf(chunk)
    if (size !== undefined) sizes.set(chunk, size)
  }
  return sizes
}

/**
 * Applies a change at once to every list that was read, before the lists are read again. A response still in flight may be
 * older than the change, and is not awaited. `change` returns the same list if no row changed.
 */
export function showInLists(change: (rows: RunRow[]) => RunRow[]): void {
  const isList = ({ queryKey }: { queryKey: QueryKey }) =>
    queryKey[0] === '/api/runs' && queryKey[2] === 'page'
  for (const { queryKey, state } of queries.getQueryCache().findAll({ predicate: isList })) {
    const changed = () =>
      queries.setQueryData<Page<RunRow>>(queryKey, page => {
        const rows = page && change(page.rows)
        return page && rows && rows !== page.rows ? { ...page, rows } : page
      })
    const before = state.data
    if (before !== undefined && changed() !== before && state.fetchStatus === 'fetching')
      void queries.cancelQueries({ queryKey, exact: true }).then(changed)
  }
}
