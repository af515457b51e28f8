import { useNavigate } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState } from 'react'
import { useWords } from '../../words/words.ts'
import { type Chosen, rangeOf, toggled, withAll } from './choice.ts'
import { Head } from './head.tsx'
import { GroupLine, RunLine } from './row.tsx'
import styles from './table.module.css'
import type { TableKey } from './table-keys.ts'
import type { Runs } from './use-runs.ts'
import { useTableKeys } from './use-table-keys.ts'
import { words } from './words.ts'

const rowHeight = 36

type Props = {
  runs: Runs
  columns: readonly string[]
  sort: string
  chosen: Chosen
  onSort: (sort: string) => void
  onChoose: (chosen: Chosen) => void
  onToggleGroup: (project: string) => void
}

/** Draws the lines in view, however many there are. `j` and `k` move, `x` chooses, `X` up to here, Enter opens. */
export function RunTable({ runs, columns, sort, chosen, onSort, onChoose, onToggleGroup }: Props) {
  const say = useWords(words)
  const box = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: runs.lines,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  })
  const inView = rows.getVirtualItems()
  const [from, to] = [inView[0]?.index ?? 0, inView.at(-1)?.index ?? 0]
  useEffect(() => runs.show(from, to), [runs.show, from, to])
  const { at, chooseAt } = useMoves({
    ...{ runs, chosen, onChoose, onToggleGroup },
    scrollTo: line => rows.scrollToIndex(line),
    box,
  })
  const loaded = runs.loaded()
  const grid = { gridTemplateColumns: `2.2rem ${columns.map(widthOf).join(' ')}` }
  const width = { minWidth: `${Math.max(60, 12 + 7.5 * columns.length)}rem` }
  return (
    <div
      ref={box}
      className={styles.box}
      tabIndex={0}
      role="grid"
      aria-label={say.title}
      aria-rowcount={runs.isKnown ? runs.lines + 1 : -1}
      aria-multiselectable="true"
      aria-busy={runs.isReading || undefined}
    >
      <div style={width}>
        <Head
          columns={columns}
          sort={sort}
          onSort={onSort}
          loaded={loaded.length}
          isAllChosen={loaded.length > 0 && loaded.every(run => chosen.has(run.run_id))}
          onChooseAll={isChosen => onChoose(withAll(chosen, loaded, isChosen))}
          style={grid}
        />
        <div role="rowgroup" style={{ height: rows.getTotalSize(), position: 'relative' }}>
          {inView.map(item => {
            const line = runs.at(item.index)
            const place = {
              nth: item.index,
              isAt: item.index === at,
              style: { ...grid, transform: `translateY(${item.start}px)` },
            }
            return line.kind === 'group' ? (
              <GroupLine
                key={item.key}
                {...place}
                {...line}
                columns={columns.length}
                onToggle={() => onToggleGroup(line.project)}
              />
            ) : (
              <RunLine
                key={item.key}
                {...place}
                run={line.run}
                columns={columns}
                isChosen={chosen.has(line.run?.run_id ?? '')}
                onChoose={isRange => chooseAt(item.index, isRange)}
              />
            )
          })}
        </div>
      </div>
    </div>
  )
}

type Moves = Pick<Props, 'runs' | 'chosen' | 'onChoose' | 'onToggleGroup'> & {
  scrollTo: (line: number) => void
  box: { readonly current: HTMLElement | null }
}

/** The line at which the keys act, and where a range began. */
function useMoves({ runs, chosen, onChoose, onToggleGroup, scrollTo, box }: Moves) {
  const navigate = useNavigate()
  const [at, setAt] = useState(0)
  const [began, setBegan] = useState<number | null>(null)
  const runAt = (nth: number) => {
    const line = runs.at(nth)
    return line.kind === 'run' ? line.run : undefined
  }
  const chooseAt = (nth: number, isRange: boolean) => {
    const run = runAt(nth)
    if (!run) return
    setBegan(nth)
    setAt(nth)
    if (!isRange || began === null) return onChoose(toggled(chosen, run))
    const range = rangeOf(began, nth).flatMap(line => runAt(line) ?? [])
    onChoose(withAll(chosen, range, !chosen.has(run.run_id)))
  }
  const move = (by: number) => {
    const next = Math.max(0, Math.min(runs.lines - 1, at + by))
    setAt(next)
    scrollTo(next)
  }
  const open = () => {
    const line = runs.at(at)
    if (line.kind === 'group') onToggleGroup(line.project)
    else if (line.run) void navigate({ to: '/runs/$run_id', params: { run_id: line.run.short_id } })
  }
  const acts: Readonly<Record<TableKey, () => void>> = {
    down: () => move(1),
    up: () => move(-1),
    choose: () => chooseAt(at, false),
    range: () => chooseAt(at, true),
    open,
  }
  useTableKeys(box, key => acts[key]())
  return { at, chooseAt }
}

const widthOf = (column: string): string =>
  column === 'name'
    ? 'minmax(min(14rem, 42vw), 3fr)'
    : column === 'tags'
      ? 'minmax(8rem, 2fr)'
      : 'minmax(6.5rem, 1fr)'
