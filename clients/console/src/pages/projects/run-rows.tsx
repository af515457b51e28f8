import { Link } from '@tanstack/react-router'
import { memo, useCallback, useRef } from 'react'
import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { strokeOfRun } from '../../charts/stroke.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { RowState } from '../run/row-state.tsx'
import { readWhilePointing } from '../run/while-pointing.ts'
import { cellOf } from '../runs/cell.tsx'
import { isNumeric } from '../runs/columns.ts'
import { RunHead } from './run-head.tsx'
import styles from './run-rows.module.css'
import type { Order } from './sort.ts'
import { Swatch } from './swatch.tsx'
import { words } from './words.ts'

type Props = {
  runs: readonly RunRow[]
  /** The runs that match the typed words. */
  listed: readonly RunRow[]
  shown: readonly RunRow[]
  onShow: (shown: readonly RunRow[]) => void
  lifted: string | null
  onLift: (runId: string | null) => void
  columns: readonly string[]
  /** By which the runs are sorted; null: the newest first. */
  order: Order | null
  onOrder: (order: Order | null) => void
}

/** The listed runs, each of which can be shown or hidden, with the chosen columns. */
export function RunRows(props: Props) {
  const { listed, runs, shown, onShow, lifted, onLift, columns, order, onOrder } = props
  const say = useWords(words)
  const isShown = new Set(shown.map(run => run.run_id))
  const latest = useRef<(run: RunRow) => void>(() => {})
  latest.current = run =>
    onShow(runs.filter(one => isShown.has(one.run_id) !== (one.run_id === run.run_id)))
  const toggle = useCallback((run: RunRow) => latest.current(run), [])
  return (
    // It scrolls by keyboard.
    <div className={styles.runs} role="table" aria-label={say.list} tabIndex={0}>
      <RunHead {...{ listed, columns, order, onOrder }} />
      <div role="rowgroup" className={styles.body}>
        {listed.map(run => (
          <Line
            key={run.run_id}
            run={run}
            columns={columns}
            isShown={isShown.has(run.run_id)}
            isLifted={lifted === run.run_id}
            onToggle={toggle}
            onLift={onLift}
          />
        ))}
      </div>
      {listed.length === 0 && runs.length > 0 && <p className={styles.soft}>{say.noneListed}</p>}
    </div>
  )
}

type LineProps = {
  run: RunRow
  columns: readonly string[]
  isShown: boolean
  isLifted: boolean
  onToggle: (run: RunRow) => void
  onLift: (runId: string | null) => void
}

/** Drawn again only if it changes itself: a list has up to 200 of them. */
const Line = memo(function Line(props: LineProps) {
  const { run, columns, isShown, isLifted, onToggle, onLift } = props
  const say = useWords(words)
  const { run_id, short_id } = run
  const name = visible(run.name ?? short_id)
  return (
    <div
      role="row"
      className={`${styles.run} ${isShown ? '' : styles.aside} ${isLifted ? styles.lifted : ''}`}
      onMouseEnter={() => onLift(isShown ? run_id : null)}
      onMouseLeave={() => onLift(null)}
      onFocus={() => onLift(isShown ? run_id : null)}
      onBlur={() => onLift(null)}
    >
      <span role="cell" className={styles.name}>
        <input
          type="checkbox"
          aria-label={say.show(`${name} (${short_id})`)}
          checked={isShown}
          onChange={() => onToggle(run)}
        />
        <Swatch stroke={strokeOfRun(short_id)} isShown={isShown} />
        <Link
          to="/runs/$run_id"
          params={{ run_id: short_id }}
          title={`${name} · ${short_id}`}
          onPointerEnter={() => readWhilePointing(run)}
          onFocus={() => readWhilePointing(run)}
        >
          {run.starred && '★ '}
          {name}
        </Link>
      </span>
      <span role="cell">
        <RowState run={run} />
      </span>
      {columns.map(column => (
        <span
          key={column}
          role="cell"
          className={`${styles.cell} ${isNumeric(column) ? styles.number : ''}`}
        >
          {cellOf(run, column)}
        </span>
      ))}
    </div>
  )
})
