import { memo } from 'react'
import type { LogLine } from '../../../../../../schemas/logs.ts'
import { usePart } from '../../../design/use-part.ts'
import { useWords } from '../../../words/words.ts'
import { needsColumns, type Piece, piecesOf } from './ansi.ts'
import { inkOf } from './ink.ts'
import { levelOf } from './level.ts'
import styles from './line.module.css'
import { type Part, partsOf } from './parts.ts'
import { words } from './words.ts'

const loadColumns = () => import('../../../../../columns.ts')

/** `found`: the text that is marked in each line. */
export type Look = { isWrapped: boolean; hasTimes: boolean; found: string }

type Props = {
  line: LogLine
  look: Look
  isMarked: boolean
  onPick: (seq: number) => void
}

/** A line as a terminal shows it; its number links to it. */
export const Line = memo(function Line({ line, look, isMarked, onPick }: Props) {
  const say = useWords(words)
  const columns = usePart(needsColumns(line.text) ? loadColumns : null)
  const pieces = piecesOf(line.text, columns?.cellsOf)
  const level = levelOf(pieces.map(({ text }) => text).join(''))
  return (
    <div
      className={`${styles.line} ${look.isWrapped ? styles.wrapped : ''} ${isMarked ? styles.marked : ''} ${line.stream === 'stderr' ? styles.stderr : ''}`}
      aria-current={isMarked || undefined}
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
      <span className={`${styles.text} ${level === null ? '' : styles[level]}`} data-level={level}>
        {partsOf(pieces, look.found).map(part => (
          <Shown key={part.at} part={part} />
        ))}
      </span>
    </div>
  )
})

/** A line that has not been read yet: its number, and a bar in place of its text. */
export const UnreadLine = ({ seq }: { seq: number }) => (
  <div className={styles.line} aria-busy="true">
    <span className={styles.number}>{seq}</span>
    <span className={styles.unread} />
  </div>
)

function Shown({ part }: { part: Part<Piece> }) {
  const { name, ...colours } = inkOf(part)
  const className = [
    styles.piece,
    name !== null && styles[name],
    part.isBold && styles.bold,
    part.isFaint && styles.faint,
    part.isItalic && styles.italic,
    part.isUnderlined && styles.underlined,
    part.isStruck && styles.struck,
  ]
    .filter(Boolean)
    .join(' ')
  const text = part.isFound ? <mark className={styles.found}>{part.text}</mark> : part.text
  return part.href === null ? (
    <span className={className} style={colours}>
      {text}
    </span>
  ) : (
    <a
      className={className}
      style={colours}
      href={part.href}
      target="_blank"
      rel="noopener noreferrer nofollow"
    >
      {text}
    </a>
  )
}
