import { useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import { type Page, readingPage } from './api.ts'

type Asked<T> = {
  query?: Readonly<Record<string, string | number | undefined>>
  /** Rows of one request, at most 500. */
  size: number
  /** Requests that are made without being asked for more. */
  pages?: number
  keyOf: (row: T) => string | number
  /** Looks for new rows at the end this often. */
  everyMs?: number | false
}

export type Pages<T> = {
  /** Undefined while the first page is on its way. */
  data: readonly T[] | undefined
  /** Of the whole list; null where the server stops counting. */
  total: number | null
  error: unknown
  refetch: () => unknown
  /** Null: there is no more. */
  more: (() => void) | null
  isReading: boolean
}

/** The beginning of a list, and more of it when somebody asks. */
export function usePages<T>(
  path: string,
  { query = {}, size, pages = 1, keyOf, everyMs = false }: Asked<T>,
): Pages<T> {
  const [wanted, setWanted] = useState(pages)
  const [total, setTotal] = useState<number | null>(size)
  const count = Math.max(1, Math.min(wanted, pagesOf(total, size)))
  const reads = useQueries({
    queries: Array.from({ length: count }, (_, nth) => ({
      ...readingPage<T>(path, { ...query, limit: size, offset: nth * size }),
      placeholderData: (before: Page<T> | undefined) => before,
      refetchInterval: nth === count - 1 && everyMs,
    })),
  })
  const known = totalOf(reads.map(({ data }) => data))
  if (known !== undefined && known !== total) setTotal(known)
  const rows = reads.flatMap(({ data }) => data?.rows ?? [])
  return {
    // What moved from one page to the next while they were read stands in both.
    data: reads[0]?.data && [...new Map(rows.map(row => [keyOf(row), row])).values()],
    total,
    error: reads.find(({ error }) => error !== null)?.error ?? null,
    refetch: () => Promise.all(reads.map(({ refetch }) => refetch())),
    more: count < pagesOf(total, size) ? () => setWanted(count + 1) : null,
    isReading: reads.some(({ isPending }) => isPending),
  }
}

/** Rows that the server skips at most. */
const mostRows = 100_000

const pagesOf = (total: number | null, size: number): number =>
  Math.ceil(Math.min(total ?? mostRows, mostRows) / size)

/** The newest word on how long a list is: that of the last page. */
const totalOf = (pages: readonly (Page<unknown> | undefined)[]): number | null | undefined =>
  pages.findLast(page => page !== undefined)?.total
