import { useQueries, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { addressOf, type Page, readingPage } from './api.ts'
import { nextStart } from './page-starts.ts'

type Asked<T> = {
  query?: Readonly<Record<string, string | number | undefined>>
  /** Rows of one request, at most 500. */
  size: number
  /** Requests that are made automatically. */
  pages?: number
  keyOf: (row: T) => string | number
  /** Looks for new rows at the end this often. */
  everyMs?: number | false
  /** Whether a row changes without an act: its page is read again every 2 s. */
  isUnderWay?: (row: T) => boolean
  /** False: nothing is read. */
  enabled?: boolean
}

export type Pages<T> = {
  /** Undefined while the first page is loading. */
  data: readonly T[] | undefined
  /** The length of the whole list; null where the server stops counting. */
  total: number | null
  error: unknown
  refetch: () => unknown
  /** Null: there is no more. */
  more: (() => void) | null
  isReading: boolean
}

/** How often something under way is read again. */
export const whileUnderWay = (isUnderWay: boolean | undefined): number | false =>
  isUnderWay === true && 2_000

/** The beginning of a list, and more of it on request. */
export function usePages<T>(
  path: string,
  { query = {}, size, pages = 1, keyOf, everyMs = false, isUnderWay, enabled = true }: Asked<T>,
): Pages<T> {
  const list = addressOf(path, query)
  const [known, setKnown] = useState({ list, starts: [0], wanted: pages })
  const now = known.list === list ? known : { list, starts: [0], wanted: pages }
  const page = (offset: number, nth: number) => ({
    ...readingPage<T>(path, { ...query, limit: size, offset }),
    refetchInterval: ({ state: { data } }: { state: { data?: Page<T> | undefined } }) =>
      whileUnderWay(isUnderWay !== undefined && data?.rows.some(isUnderWay)) ||
      (nth === now.starts.length - 1 && everyMs),
    enabled,
  })
  // Separate from the others, because `useQueries` cannot keep showing the former list until this one arrives.
  const first = useQuery({
    ...page(0, 0),
    placeholderData: (before: Page<T> | undefined) => before,
  })
  const others = useQueries({ queries: now.starts.slice(1).map((at, nth) => page(at, nth + 1)) })
  const reads = [first, ...others]
  const last = reads.at(-1)
  const end = nextStart(now.starts, last?.isPlaceholderData ? undefined : last?.data)
  const readOn = (wanted: number) =>
    end !== null && setKnown({ list, starts: [...now.starts, end], wanted })
  if (now.starts.length < now.wanted) readOn(now.wanted)
  const rows = reads.flatMap(({ data }) => data?.rows ?? [])
  return {
    // A row that moved from one page to the next while they were read appears in both.
    data: reads[0]?.data && [...new Map(rows.map(row => [keyOf(row), row])).values()],
    total: (reads.findLast(({ data }) => data)?.data ?? { total: null }).total,
    error: reads.find(({ error }) => error !== null)?.error ?? null,
    refetch: () => Promise.all(reads.map(({ refetch }) => refetch())),
    more: end === null ? null : () => readOn(now.starts.length + 1),
    isReading: reads.some(({ isPending }) => isPending),
  }
}
