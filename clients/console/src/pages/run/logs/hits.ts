import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { LogLine } from '../../../../../../schemas/logs.ts'
import { addressOf } from '../../../session/api.ts'
import { linkIn } from '../../../session/base-path.ts'
import { accepted, authorized } from '../../../session/session.ts'
import type { Filter } from './filter.ts'

type Found = { lines: LogLine[]; next: string | null }

/** How many are searched automatically. */
const enough = 500

/** The lines of a log that pass a filter, added while the search runs; none are searched without a filter. */
export function useHits(path: string, filter: Filter) {
  const isFiltered = Object.keys(filter).length > 0
  const found = useInfiniteQuery({
    queryKey: [path, filter, 'found'],
    enabled: isFiltered,
    initialPageParam: addressOf(path, { ...filter, limit: 200 }),
    queryFn: async ({ pageParam, signal }): Promise<Found> => {
      const response = await authorized('GET', pageParam, { signal })
      const lines = (await accepted(response)) as LogLine[]
      return { lines, next: linkIn(response, 'next') }
    },
    getNextPageParam: ({ next }) => next,
  })
  const pages = found.data?.pages ?? []
  const lines = pages.flatMap(page => page.lines)
  const { data, error, hasNextPage, isFetching, isError, fetchNextPage, refetch } = found
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError && lines.length < enough) void fetchNextPage()
  }, [hasNextPage, isFetching, isError, lines.length, fetchNextPage])
  return {
    lines,
    error: isError ? error : null,
    hasBegun: data !== undefined,
    isAll: data !== undefined && !hasNextPage,
    /** Up to which line the log has been searched. */
    searchedTo: Number(/[?&]after=(\d+)/.exec(pages.at(-1)?.next ?? '')?.[1] ?? 0),
    isFetching,
    searchFurther: hasNextPage && lines.length >= enough ? () => void fetchNextPage() : null,
    retry: () => void (data === undefined ? refetch() : fetchNextPage()),
    refetch,
  }
}

export type Hits = ReturnType<typeof useHits>

export type Way = 'next' | 'prev'

type Seeking = {
  path: string
  filter: Filter
  line: number
  hits: Hits
  onLine: (seq: number) => void
}

/** Moves to the next or the previous hit; the server finds hits that the page has not read. */
export function useSeek({ path, filter, line, hits, onLine }: Seeking) {
  const [busy, setBusy] = useState<Way | null>(null)
  const asked = JSON.stringify(filter)
  const [outcome, setOutcome] = useState<Outcome>({ asked, end: null, error: null })
  const seek = async (way: Way) => {
    setBusy(way)
    setOutcome({ asked, end: null, error: null })
    try {
      const seq = await findHit(path, { filter, line, way })
      if (seq === null) return setOutcome({ asked, end: way, error: null })
      onLine(seq)
      // The log has grown since the search.
      if (hits.isAll && seq > (hits.lines.at(-1)?.seq ?? 0)) void hits.refetch()
    } catch (failure) {
      setOutcome({ asked, end: null, error: failure })
    } finally {
      setBusy(null)
    }
  }
  const { end, error } = outcome.asked === asked ? outcome : { end: null, error: null }
  return { seek, busy, end, error }
}

/** The last move: the end of the log that it reached, or its failure. `asked`: the filter at the time. */
type Outcome = { asked: string; end: Way | null; error: unknown }

export type Seek = ReturnType<typeof useSeek>

/** The number of the nearest matching line; null if there is none on that side. From the list of hits, `line` is 0. */
async function findHit(
  path: string,
  { filter, line, way }: { filter: Filter; line: number; way: Way },
): Promise<number | null> {
  const before = line === 0 ? Number.MAX_SAFE_INTEGER : line
  const side = way === 'next' ? { after: line } : { before }
  let address: string | null = addressOf(path, { ...filter, ...side, limit: 1 })
  while (address !== null) {
    const response: Response = await authorized('GET', address, {})
    const [found] = (await accepted(response)) as LogLine[]
    if (found) return found.seq
    address = linkIn(response, way)
  }
  return null
}
