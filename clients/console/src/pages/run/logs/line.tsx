import { memo } from 'react'
import type { LogLine } from '../../../../../../schemas/logs.ts'
import { useWords } from '../../../words/words.ts'
import { piecesOf } from './ansi.ts'
import styles from './line.module.css'
import { words } from './words.ts'

export type Look = { isWrapped: boolean; hasTimes: boolean; runId: string }

type Props = {
  line: LogLine
  look: Look
  isMarked: boolean
  onPick: (seq: number) => void
}

/** A line as a terminal shows it; its number links to it. */
export const Line = memo(function Line({ line, look, isMarked, onPick }: Props) {
  const say = useWords(words)
  return (
    <div
      className={`${styles.line} ${look.isWrapped ? styles.wrapped : ''} ${isMarked ? styles.marked : ''} ${line.stream === 'stderr' ? styles.stderr : ''}`}
    >
      <a
        className={styles.number}
        href={`?line=${line.seq}`}
        aria-label={say.line(line.seq)}
        onClick={event => {
          event.preventDefault()
          onPick(line.seq)
        }}
      >
        {line.seq}
      </a>
      {look.hasTimes && (
        <span className={styles.time}>{new Date(line.ts).toISOString().slice(11, 23)}</span>
      )}
      {line.rank !== null && <span className={styles.time}>{line.rank}</span>}
      <span className={styles.text}>
        {piecesOf(line.text).map(({ at, text, colour, isBold, isFaint }) => (
          <span
            key={at}
            className={[colour && styles[colour], isBold && styles.bold, isFaint && styles.time]
              .filter(Boolean)
              .join(' ')}
          >
            {text}
          </span>
        ))}
      </span>
    </div>
  )
})
