import { useQueries, useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { LogLine } from '../../../../../../schemas/logs.ts'
import { Button } from '../../../design/button.tsx'
import { Checkbox } from '../../../design/field.tsx'
import { Empty, Failure, Loading } from '../../../design/notice.tsx'
import { ScrollBox } from '../../../design/scroll-box.tsx'
import { useRows } from '../../../design/use-rows.ts'
import { useLive, useThrottled } from '../../../live/use-live.ts'
import { reading, reread } from '../../../session/api.ts'
import { accepted, authorized } from '../../../session/session.ts'
import { useWords } from '../../../words/words.ts'
import { pathOfRun, type RunRecord } from '../use-run.ts'
import { Line, type Look, UnreadLine } from './line.tsx'
import styles from './tab.module.css'
import { chunkLines, chunksFor, sizeOf, windowFor, windowLines } from './window.ts'
import { words } from './words.ts'

export const lineHeight = 20

type Props = {
  run: RunRecord
  look: Look
  /** The line that the address names; 0: none. */
  line: number
  onLine: (seq: number) => void
  /** In the bar above the log. */
  children: ReactNode
}

/** The whole log; only the lines in view are read. Follows the end until somebody scrolls up. */
export function LineList({ run, look, line, onLine, children }: Props) {
  const say = useWords(words)
  const path = `${pathOfRun(run.run_id)}/logs`
  const end = useQuery(lengthOfLog(path))
  const again = useThrottled(() => reread(path), 300)
  useLive(run.logs.eof ? null : `logs:${run.run_id}`, {
    onEvent: ({ event }) => event === 'log' && again(),
    onGap: again,
  })
  if (end.error !== null && end.data === undefined)
    return <Failure error={end.error} onRetry={end.refetch} />
  if (end.data === undefined) return <Loading />
  if (end.data === 0) return <Empty text={say.none} />
  return (
    <Lines path={path} last={end.data} {...{ look, line, onLine }}>
      {children}
    </Lines>
  )
}

/** How many lines there are: the number of the last one. */
export const lengthOfLog = (path: string) => ({
  queryKey: [path, 'length'],
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<number> => {
    const response = await authorized('GET', `${path}?limit=1&after=0`, { signal })
    await accepted(response)
    return Number(response.headers.get('x-total-count') ?? 0)
  },
})

type LinesProps = { path: string; last: number } & Omit<Props, 'run'>

function Lines({ path, last, look, line, onLine, children }: LinesProps) {
  const say = useWords(words)
  const box = useRef<HTMLDivElement>(null)
  const [start, setStart] = useState(() => windowFor(line, last))
  const count = sizeOf(start, last)
  const { rows, total, scrollTo } = useRows({
    ...{ box, count, height: lineHeight, spare: 30, isMeasured: look.isWrapped },
  })
  const inSight = { from: rows[0]?.index ?? 0, to: rows.at(-1)?.index ?? 0 }
  const { lineAt, error, retry } = useLines(path, start, inSight, last)
  const { isFollowing, news, setFollowing, onScroll } = useFollowing(box, line === 0, last)
  useEffect(() => {
    if (!isFollowing || count === 0) return
    setStart(windowFor(0, last))
    scrollTo(count - 1, 'end')
  }, [isFollowing, last, count, scrollTo])
  useEffect(() => {
    if (line === 0) return
    setFollowing(false)
    const first = windowFor(line, line)
    setStart(first)
    scrollTo(line - 1 - first, 'center')
  }, [line, scrollTo, setFollowing])
  const following = { isFollowing, news, onChange: setFollowing }
  return (
    <>
      <Bar last={last} start={start} onStart={setStart} {...following}>
        {children}
      </Bar>
      <Failure error={error} onRetry={retry} />
      <ScrollBox
        ref={box}
        className={styles.box}
        onScroll={onScroll}
        role="log"
        aria-label={say.log}
        aria-live="off"
      >
        <div style={{ height: total, position: 'relative' }}>
          {rows.map(({ index, top }) => (
            <Place key={index} {...{ index, top }} isWrapped={look.isWrapped}>
              <LineOrUnread
                seq={start + index + 1}
                line={lineAt(start + index + 1)}
                look={look}
                isMarked={start + index + 1 === line}
                onPick={onLine}
              />
            </Place>
          ))}
        </div>
      </ScrollBox>
    </>
  )
}

type PlaceProps = {
  index: number
  top: number
  isWrapped: boolean
  children: ReactNode
}

/** The position of a line in a list that draws only the lines in view; wrapped lines are measured. */
export const Place = ({ index, top, isWrapped, children }: PlaceProps) => (
  <div
    data-index={index}
    className={isWrapped ? styles.wrappedRow : styles.row}
    style={{ transform: `translateY(${top}px)` }}
  >
    {children}
  </div>
)

type LineOrUnreadProps = { seq: number; line: LogLine | undefined } & Omit<
  Parameters<typeof Line>[0],
  'line'
>

const LineOrUnread = ({ seq, line, ...rest }: LineOrUnreadProps) =>
  line ? <Line line={line} {...rest} /> : <UnreadLine seq={seq} />

/** Whether the end is followed: until somebody scrolls up. `news` counts the lines since. */
function useFollowing(box: { current: HTMLElement | null }, isFirst: boolean, last: number) {
  const [isFollowing, setFollowing] = useState(isFirst)
  const seen = useRef(last)
  const lastTop = useRef(0)
  if (isFollowing) seen.current = last
  const onScroll = () => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = box.current ?? {}
    const isAtEnd = scrollHeight - scrollTop - clientHeight < 2 * lineHeight
    if (!isAtEnd && scrollTop < lastTop.current) setFollowing(false)
    lastTop.current = scrollTop
  }
  return { isFollowing, setFollowing, onScroll, news: last - seen.current }
}

type BarProps = {
  last: number
  start: number
  onStart: (start: number) => void
  isFollowing: boolean
  news: number
  onChange: (isFollowing: boolean) => void
  children: ReactNode
}

function Bar({ last, start, onStart, isFollowing, news, onChange, children }: BarProps) {
  const say = useWords(words)
  return (
    <div className={styles.bar}>
      <Checkbox
        label={say.follow}
        checked={isFollowing}
        onChange={event => onChange(event.target.checked)}
      />
      <span role="status">{say.lines(last)}</span>
      {!isFollowing && news > 0 && (
        <Button onClick={() => onChange(true)}>{say.newLines(news)}</Button>
      )}
      {start > 0 && <Button onClick={() => onStart(start - windowLines)}>{say.earlier}</Button>}
      {start + windowLines < last && (
        <Button onClick={() => onStart(start + windowLines)}>{say.later}</Button>
      )}
      {children}
    </div>
  )
}

/** Lines by their number, as far as they have been read. */
function useLines(
  path: string,
  start: number,
  inSight: { from: number; to: number },
  last: number,
) {
  const wanted = chunksFor(start, inSight.from, inSight.to)
  const chunks = useQueries({
    queries: wanted.map(after => ({
      ...reading<LogLine[]>(path, { after, limit: chunkLines }),
      // The contents of a full chunk never change; the last chunk grows with the log.
      staleTime: after + chunkLines <= last ? Number.POSITIVE_INFINITY : 0,
      placeholderData: (before: LogLine[] | undefined) => before,
    })),
  })
  const byStart = new Map(wanted.map((after, nth) => [after, chunks[nth]?.data]))
  const lineAt = (seq: number): LogLine | undefined => {
    const after = Math.floor((seq - 1) / chunkLines) * chunkLines
    return byStart.get(after)?.find(line => line.seq === seq)
  }
  const failed = chunks.find(({ error }) => error !== null)
  return { lineAt, error: failed?.error ?? null, retry: () => void failed?.refetch() }
}
