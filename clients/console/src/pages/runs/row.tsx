import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { Num } from '../../design/number.tsx'
import { Star } from '../../design/star.tsx'
import { Ago, Length } from '../../design/time.tsx'
import { bytesOf, lengthOf } from '../../words/amounts.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { readRunAhead } from '../run/ahead.ts'
import { mainMetricOf } from '../run/main-metric.ts'
import { RowState } from '../run/row-state.tsx'
import {
  type FieldName,
  hparamOf,
  isNumeric,
  metricOf,
  valueOfHparam,
  valueOfMetric,
} from './columns.ts'
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
              {cells.state(run)} {run.project} · {cells.created_at(run)}
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

const cells: Readonly<Record<FieldName, (run: RunRow) => ReactNode>> = {
  name: run => (
    <Link
      to="/runs/$run_id"
      params={{ run_id: run.short_id }}
      tabIndex={-1}
      onPointerEnter={() => readRunAhead(run)}
    >
      {visible(run.name ?? run.short_id)}
      {run.name !== null && <span className={styles.soft}> {run.short_id}</span>}
    </Link>
  ),
  state: run => <RowState run={run} tabIndex={-1} />,
  project: run => run.project,
  owner: run => run.owner,
  created_at: run => <Ago at={run.created_at} />,
  ended_at: run => run.ended_at !== null && <Ago at={run.ended_at} />,
  duration_s: run =>
    run.ended_at !== null
      ? run.duration_s !== null && lengthOf(run.duration_s)
      : // The clock of a waiting run, such as a paused one, does not advance; how long it ran is on its page.
        run.state === 'running' &&
        run.started_at !== null && <Length from={run.started_at} to={null} />,
  best: run => {
    const main = mainMetricOf(run)
    return main && <Num value={main.value} label={`${main.key} (${main.of})`} />
  },
  tags: run => visible(run.tags.join(', ')),
  notes: run =>
    run.notes !== '' && <span title={run.notes}>{visible(firstLineOf(run.notes))}</span>,
  recipe: run => run.recipe && `${run.recipe.name} ${run.recipe.version}`,
  points: run => run.counts.points.toLocaleString(),
  log_bytes: run => bytesOf(run.counts.log_bytes),
}

function cellOf(run: RunRow, column: string): ReactNode {
  const hparam = hparamOf(column)
  if (hparam !== null) {
    const value = valueOfHparam(run, hparam)
    return value !== undefined && <span title={value}>{value}</span>
  }
  const metric = metricOf(column)
  if (metric === null) return cells[column as FieldName](run)
  const value = valueOfMetric(run, metric)
  return value !== null && <Num value={value} />
}

const firstLineOf = (text: string): string => text.trim().split('\n', 1)[0] ?? ''
