import { useQueries, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { RunRow } from '../../../../../schemas/run-records.ts'
import { type Page, readingPage } from '../../session/api.ts'
import { chunkRows, chunksFor, countOf } from './chunks.ts'

export type Runs = {
  /** Undefined while it is on its way. */
  at(nth: number): RunRow | undefined
  count: number
  /** False where the server stops counting. */
  isCounted: boolean
  isKnown: boolean
  error: unknown
  /** What is in view, as rows from 0. */
  show(from: number, to: number): void
}

/** The runs of a search in an order, read as far as they come into view. */
export function useRuns({ q, sort }: { q: string; sort: string }): Runs {
  const [view, setView] = useState({ from: 0, to: 40 })
  const chunk = (nth: number) => ({
    ...readingPage<RunRow>('/api/runs', { q, sort, limit: chunkRows, offset: nth * chunkRows }),
    placeholderData: (before: Page<RunRow> | undefined) => before,
  })
  const first = useQuery(chunk(0))
  const total = first.data === undefined ? 0 : first.data.total
  const wanted = chunksFor(view.from, view.to, total ?? Number.POSITIVE_INFINITY).filter(n => n > 0)
  const others = useQueries({ queries: wanted.map(chunk) })
  const loaded = new Map<number, readonly RunRow[]>([[0, first.data?.rows ?? []]])
  for (const [nth, result] of others.entries())
    if (result.data) loaded.set(wanted[nth] ?? 0, result.data.rows)
  const sizes = new Map([...loaded].map(([nth, rows]) => [nth, rows.length]))
  return {
    at: nth => loaded.get(Math.floor(nth / chunkRows))?.[nth % chunkRows],
    count: countOf(total, sizes),
    isCounted: total !== null,
    isKnown: first.data !== undefined,
    error: first.error ?? others.find(({ error }) => error)?.error ?? null,
    show(from, to) {
      setView(now => (now.from === from && now.to === to ? now : { from, to }))
    },
  }
}
