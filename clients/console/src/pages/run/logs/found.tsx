import { useRef } from 'react'
import { Failure, Loading } from '../../../design/notice.tsx'
import { ScrollBox } from '../../../design/scroll-box.tsx'
import { useRows } from '../../../design/use-rows.ts'
import { useWords } from '../../../words/words.ts'
import type { Hits } from './hits.ts'
import { Line, type Look } from './line.tsx'
import { lineHeight, Place } from './lines.tsx'
import styles from './tab.module.css'
import { words } from './words.ts'

type Props = { hits: Hits; look: Look; onOpen: (seq: number) => void }

/** The lines that pass a filter; a click on a number shows the line in context. */
export function FoundLines({ hits, look, onOpen }: Props) {
  const say = useWords(words)
  const { lines } = hits
  const box = useRef<HTMLDivElement>(null)
  const { rows, total } = useRows({
    ...{ box, count: lines.length, height: lineHeight, spare: 30, isMeasured: look.isWrapped },
  })
  if (hits.error !== null && !hits.hasBegun)
    return <Failure error={hits.error} onRetry={hits.retry} />
  if (!hits.hasBegun) return <Loading />
  return (
    <>
      <Failure error={hits.error} onRetry={hits.retry} />
      <ScrollBox ref={box} className={styles.box} role="log" aria-label={say.log} aria-live="off">
        <div style={{ height: total, position: 'relative' }}>
          {rows.map(({ index, top }) => {
            const line = lines[index]
            return (
              line && (
                <Place key={index} {...{ index, top }} isWrapped={look.isWrapped}>
                  <Line line={line} look={look} isMarked={false} onPick={onOpen} />
                </Place>
              )
            )
          })}
        </div>
      </ScrollBox>
    </>
  )
}
