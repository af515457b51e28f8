import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { Star } from '../../design/star.tsx'
import { useWords } from '../../words/words.ts'
import { cellOf } from './cell.tsx'
import { isNumeric } from './columns.ts'
import styles from './table.module.css'
import { words } from './words.ts'

type Place = {
  /** The line, from 0. */
  nth: number
  isAt: boolean
  style: { gridTemplateColumns: string; height: number; transform: string }
}

type RunProps = Place & {
  /** Undefined while loading. */
  run: RunRow | undefined
  columns: readonly string[]
  /** On a phone, the state is below the name. */
  isPhone: boolean
  isChosen: boolean
  onStar: (run: RunRow) => void
  onChoose: (isRange: boolean) => void
}

export function RunLine(props: RunProps) {
  const { run, nth, columns, isPhone, isAt, isChosen, onStar, onChoose, style } = props
  const say = useWords(words)
  return (
    <div
      role="row"
      aria-rowindex={nth + 2}
      aria-selected={isChosen}
      aria-busy={run === undefined || undefined}
      className={`${styles.row} ${isAt ? styles.at : ''}`}
      style={style}
    >
      <span role="gridcell" className={styles.check}>
        {run && (
          <>
            <input
              type="checkbox"
              tabIndex={-1}
              aria-label={say.chooseRun(run.short_id)}
              checked={isChosen}
              onChange={({ nativeEvent }) =>
                onChoose(nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
              }
            />
            <Star
              isOn={run.starred}
              label={say.starRun(run.short_id)}
              tabIndex={-1}
              onToggle={() => onStar(run)}
            />
          </>
        )}
      </span>
      {columns.map(column => (
        <span
          key={column}
          role="gridcell"
          className={`${styles.cell} ${isNumeric(column) ? styles.number : ''}`}
        >
          {run ? cellOf(run, column) : <span className={styles.wait} />}
          {run && isPhone && column === 'name' && (
            <span className={styles.below}>
              {cellOf(run, 'state')} {run.project} · {cellOf(run, 'created_at')}
            </span>
          )}
        </span>
      ))}
    </div>
  )
}

type GroupProps = Place & {
  project: string
  runs: number
  isOpen: boolean
  columns: number
  onToggle: () => void
}

export function GroupLine({
  project,
  runs,
  isOpen,
  columns,
  nth,
  isAt,
  onToggle,
  style,
}: GroupProps) {
  const say = useWords(words)
  return (
    <div
      role="row"
      aria-rowindex={nth + 2}
      className={`${styles.row} ${styles.group} ${isAt ? styles.at : ''}`}
      style={style}
    >
      <span role="gridcell" aria-colspan={columns + 1} className={styles.groupCell}>
        <button type="button" className={styles.sort} aria-expanded={isOpen} onClick={onToggle}>
          <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> {project}{' '}
          <span className={styles.soft}>{say.count(runs, true)}</span>
        </button>
      </span>
    </div>
  )
}
