import { Link, useNavigate } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import type { RunRow } from '../../../../../schemas/run-records.ts'
import { Badge } from '../../design/badge.tsx'
import { Ago, Length } from '../../design/time.tsx'
import { bytesOf, lengthOf, shortNumber } from '../../words/amounts.ts'
import { useWords } from '../../words/words.ts'
import { type FieldName, isSortable, metricOf, nextSort, valueOfMetric } from './columns.ts'
import styles from './table.module.css'
import type { Runs } from './use-runs.ts'
import { words } from './words.ts'

const rowHeight = 36

type Props = {
  runs: Runs
  columns: readonly string[]
  sort: string
  chosen: ReadonlyMap<string, RunRow>
  onSort: (sort: string) => void
  onChoose: (chosen: ReadonlyMap<string, RunRow>) => void
}

/** Draws the rows in view, however many there are. `j` and `k` move, `x` chooses, Enter opens. */
export function RunTable({ runs, columns, sort, chosen, onSort, onChoose }: Props) {
  const say = useWords(words)
  const box = useRef<HTMLDivElement>(null)
  const navigate = useNavigate()
  const [at, setAt] = useState(0)
  const rows = useVirtualizer({
    count: runs.count,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  })
  const inView = rows.getVirtualItems()
  const [from, to] = [inView[0]?.index ?? 0, inView.at(-1)?.index ?? 0]
  useEffect(() => runs.show(from, to), [runs.show, from, to])
  const toggle = (run: RunRow) => {
    const next = new Map(chosen)
    if (!next.delete(run.run_id)) next.set(run.run_id, run)
    onChoose(next)
  }
  const move = (by: number) => {
    const next = Math.max(0, Math.min(runs.count - 1, at + by))
    setAt(next)
    rows.scrollToIndex(next)
  }
  const open = (run: RunRow) =>
    void navigate({ to: '/runs/$run_id', params: { run_id: run.short_id } })
  const keys: Readonly<Record<string, (run: RunRow | undefined) => void>> = {
    j: () => move(1),
    ArrowDown: () => move(1),
    k: () => move(-1),
    ArrowUp: () => move(-1),
    x: run => run && toggle(run),
    Enter: run => run && open(run),
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const act = event.target === box.current ? keys[event.key] : undefined
    if (!act) return
    event.preventDefault()
    act(runs.at(at))
  }
  const grid = { gridTemplateColumns: `2.2rem ${columns.map(widthOf).join(' ')}` }
  return (
    <div
      ref={box}
      className={styles.box}
      tabIndex={0}
      role="grid"
      aria-label={say.title}
      aria-rowcount={runs.count}
      onKeyDown={onKeyDown}
    >
      <div role="row" className={styles.head} style={grid}>
        <span role="columnheader">
          <span className="visually-hidden">{say.chosen(chosen.size)}</span>
        </span>
        {columns.map(column => (
          <Head key={column} column={column} sort={sort} onSort={onSort} />
        ))}
      </div>
      <div role="rowgroup" style={{ height: rows.getTotalSize(), position: 'relative' }}>
        {inView.map(item => (
          <Row
            key={item.key}
            run={runs.at(item.index)}
            nth={item.index}
            columns={columns}
            isAt={item.index === at}
            isChosen={chosen.has(runs.at(item.index)?.run_id ?? '')}
            onToggle={toggle}
            style={{ ...grid, transform: `translateY(${item.start}px)` }}
          />
        ))}
      </div>
    </div>
  )
}

const widthOf = (column: string): string =>
  column === 'name'
    ? 'minmax(14rem, 3fr)'
    : column === 'tags'
      ? 'minmax(8rem, 2fr)'
      : 'minmax(6.5rem, 1fr)'

type HeadProps = { column: string; sort: string; onSort: (sort: string) => void }

function Head({ column, sort, onSort }: HeadProps) {
  const title = useTitle(column)
  const isDown = sort === `-${column}`
  const isUp = sort === column
  return (
    <span
      role="columnheader"
      aria-sort={isDown ? 'descending' : isUp ? 'ascending' : 'none'}
      className={styles.cell}
    >
      {isSortable(column) ? (
        <button
          type="button"
          className={styles.sort}
          onClick={() => onSort(nextSort(column, sort))}
        >
          {title} <span aria-hidden="true">{isDown ? '↓' : isUp ? '↑' : ''}</span>
        </button>
      ) : (
        title
      )}
    </span>
  )
}

export function useTitle(column: string): string {
  const say = useWords(words)
  const metric = metricOf(column)
  if (metric === null) return say[column as FieldName]
  return metric.of === 'last' ? metric.key : `${metric.of} ${metric.key}`
}

type RowProps = {
  run: RunRow | undefined
  nth: number
  columns: readonly string[]
  isAt: boolean
  isChosen: boolean
  onToggle: (run: RunRow) => void
  style: { gridTemplateColumns: string; transform: string }
}

function Row({ run, nth, columns, isAt, isChosen, onToggle, style }: RowProps) {
  const say = useWords(words)
  return (
    <div
      role="row"
      aria-rowindex={nth + 1}
      aria-selected={isChosen}
      className={`${styles.row} ${isAt ? styles.at : ''}`}
      style={style}
    >
      <span role="gridcell" className={styles.check}>
        {run && (
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={say.chooseRun(run.short_id)}
            checked={isChosen}
            onChange={() => onToggle(run)}
          />
        )}
      </span>
      {columns.map(column => (
        <span key={column} role="gridcell" className={styles.cell}>
          {run && cellOf(run, column)}
        </span>
      ))}
    </div>
  )
}

const cells: Readonly<Record<FieldName, (run: RunRow) => ReactNode>> = {
  name: run => (
    <Link to="/runs/$run_id" params={{ run_id: run.short_id }} tabIndex={-1}>
      {run.starred ? '★ ' : ''}
      {run.name ?? run.short_id}
      {run.name !== null && <span className={styles.soft}> {run.short_id}</span>}
    </Link>
  ),
  state: run => <Badge state={run.state} />,
  project: run => run.project,
  owner: run => run.owner,
  created_at: run => <Ago at={run.created_at} />,
  ended_at: run => run.ended_at !== null && <Ago at={run.ended_at} />,
  duration_s: run =>
    run.ended_at === null && run.started_at !== null ? (
      <Length from={run.started_at} to={null} />
    ) : (
      run.duration_s !== null && lengthOf(run.duration_s)
    ),
  best: run =>
    run.best?.value != null && <span title={run.best.key}>{shortNumber(run.best.value, 5)}</span>,
  tags: run => run.tags.join(', '),
  recipe: run => run.recipe && `${run.recipe.name} ${run.recipe.version}`,
  points: run => run.counts.points.toLocaleString(),
  log_bytes: run => bytesOf(run.counts.log_bytes),
}

function cellOf(run: RunRow, column: string): ReactNode {
  const metric = metricOf(column)
  if (metric === null) return cells[column as FieldName](run)
  const value = valueOfMetric(run, metric)
  return typeof value === 'number' ? shortNumber(value, 5) : value
}
