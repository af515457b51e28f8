import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef } from 'react'
import type { LogLine } from '../../../../../../schemas/logs.ts'
import { Button } from '../../../design/button.tsx'
import { Failure } from '../../../design/notice.tsx'
import { ScrollBox } from '../../../design/scroll-box.tsx'
import { addressOf } from '../../../session/api.ts'
import { linkIn } from '../../../session/base-path.ts'
import { accepted, authorized } from '../../../session/session.ts'
import { useWords } from '../../../words/words.ts'
import { pathOfRun } from '../use-run.ts'
import type { Filter } from './filter.ts'
import { Line, type Look } from './line.tsx'
import { lengthOfLog, lineHeight, Place } from './lines.tsx'
import styles from './tab.module.css'
import { words } from './words.ts'

type Props = {
  filter: Filter
  look: Look
  onOpen: (seq: number) => void
  /** Returns to the whole log. */
  onLeave: () => void
}

type Found = { lines: LogLine[]; next: string | null }

/** How many are searched automatically. */
const enough = 500

/** The lines that pass a filter, added while the search runs; a click on a number shows the line in context. */
export function FoundLines({ filter, look, onOpen, onLeave }: Props) {
  const say = useWords(words)
  const path = `${pathOfRun(look.runId)}/logs`
  const found = useFound(path, filter)
  const length = useQuery(lengthOfLog(path))
  const pages = found.data?.pages ?? []
  const lines = pages.flatMap(page => page.lines)
  const { hasNextPage, isFetching, isError, fetchNextPage } = found
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError && lines.length < enough) void fetchNextPage()
  }, [hasNextPage, isFetching, isError, lines.length, fetchNextPage])
  if (isError && found.data === undefined)
    return (
      <>
        <Failure error={found.error} onRetry={found.refetch} />
        <Button onClick={onLeave}>{say.leave}</Button>
      </>
    )
  const isAll = found.data !== undefined && !hasNextPage
  const searchedTo = Number(/[?&]after=(\d+)/.exec(pages.at(-1)?.next ?? '')?.[1] ?? 0)
  const share = searchedTo / Math.max(1, length.data ?? 0)
  return (
    <>
      <div className={styles.bar}>
        <span role="status">
          {isAll && lines.length === 0 ? say.noneFound : say.hits(lines.length, isAll)}
          {!isAll && ` · ${say.searched(`${Math.floor(Math.min(1, share) * 100)} %`)}`}
        </span>
        {hasNextPage && lines.length >= enough && (
          <Button busy={isFetching} onClick={() => void fetchNextPage()}>
            {say.more}
          </Button>
        )}
        <Button onClick={onLeave}>{say.leave}</Button>
      </div>
      {isError && <Failure error={found.error} onRetry={() => void fetchNextPage()} />}
      <Hits lines={lines} look={look} onOpen={onOpen} />
    </>
  )
}

const useFound = (path: string, filter: Filter) =>
  useInfiniteQuery({
    queryKey: [path, filter, 'found'],
    initialPageParam: addressOf(path, { ...filter, limit: 200 }),
    queryFn: async ({ pageParam, signal }): Promise<Found> => {
      const response = await authorized('GET', pageParam, { signal })
      const lines = (await accepted(response)) as LogLine[]
      return { lines, next: linkIn(response, 'next') }
    },
    getNextPageParam: ({ next }) => next,
  })

type HitsProps = { lines: readonly LogLine[] } & Pick<Props, 'look' | 'onOpen'>

function Hits({ lines, look, onOpen }: HitsProps) {
  const say = useWords(words)
  const box = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => lineHeight,
    overscan: 30,
  })
  return (
    <ScrollBox ref={box} className={styles.box} role="log" aria-label={say.log} aria-live="off">
      <div style={{ height: rows.getTotalSize(), position: 'relative' }}>
        {rows.getVirtualItems().map(({ key, index, start: top }) => {
          const line = lines[index]
          return (
            line && (
              <Place key={key} rows={rows} index={index} top={top} isWrapped={look.isWrapped}>
                <Line line={line} look={look} isMarked={false} onPick={onOpen} />
              </Place>
            )
          )
        })}
      </div>
    </ScrollBox>
  )
}
