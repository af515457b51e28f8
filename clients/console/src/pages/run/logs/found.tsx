import { useInfiniteQuery } from '@tanstack/react-query'
import type { LogLine } from '../../../../../../schemas/logs.ts'
import { Button } from '../../../design/button.tsx'
import { Failure, Loading } from '../../../design/notice.tsx'
import { addressOf } from '../../../session/api.ts'
import { accepted, authorized } from '../../../session/session.ts'
import { useWords } from '../../../words/words.ts'
import { pathOfRun } from '../use-run.ts'
import type { Filter } from './filter.ts'
import { Line, type Look } from './line.tsx'
import styles from './tab.module.css'
import { words } from './words.ts'

type Props = { filter: Filter; look: Look; onOpen: (seq: number) => void }

type Found = { lines: LogLine[]; next: string | null }

/** The lines that a filter leaves; a click on a number shows the line among its neighbours. */
export function FoundLines({ filter, look, onOpen }: Props) {
  const say = useWords(words)
  const path = `${pathOfRun(look.runId)}/logs`
  const found = useInfiniteQuery({
    queryKey: [path, filter, 'found'],
    initialPageParam: addressOf(path, { ...filter, limit: 200 }),
    queryFn: async ({ pageParam, signal }): Promise<Found> => {
      const response = await authorized('GET', pageParam, { signal })
      const lines = (await accepted(response)) as LogLine[]
      const [, next] = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? []
      return { lines, next: next ?? null }
    },
    getNextPageParam: ({ next }) => next,
  })
  if (found.data === undefined) return found.error ? <Failure error={found.error} /> : <Loading />
  const lines = found.data.pages.flatMap(page => page.lines)
  return (
    <>
      <div className={styles.bar}>
        <span role="status">
          {lines.length === 0 && !found.hasNextPage
            ? say.noneFound
            : say.hits(lines.length, !found.hasNextPage)}
        </span>
        {found.hasNextPage && (
          <Button busy={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
            {say.more}
          </Button>
        )}
      </div>
      <div className={styles.box} tabIndex={0} role="log" aria-label={say.log} aria-live="off">
        {lines.map(line => (
          <Line key={line.seq} line={line} look={look} isMarked={false} onPick={onOpen} />
        ))}
      </div>
    </>
  )
}
