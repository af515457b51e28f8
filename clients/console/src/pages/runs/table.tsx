import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef } from 'react'
import { ScrollBox } from '../../design/scroll-box.tsx'
import { useWords } from '../../words/words.ts'
import { type Chosen, withAll } from './choice.ts'
import { idOf, keysOf } from './cursor.ts'
import { Head } from './head.tsx'
import { GroupLine, RunLine } from './row.tsx'
import styles from './table.module.css'
import { useMoves } from './use-moves.ts'
import type { Runs } from './use-runs.ts'
import { words } from './words.ts'

const rowHeight = 36

type Props = {
  runs: Runs
  /** Differs for each search, order and grouping. */
  list: string
  columns: readonly string[]
  sort: string
  chosen: Chosen
  onSort: (sort: string) => void
  onChoose: (chosen: Chosen) => void
  onToggleGroup: (project: string) => void
}

/** Draws the lines in view, however many there are. `j` and `k` move, `x` selects, `X` extends to here, Enter opens. */
export function RunTable(props: Props) {
  const { runs, list, columns, sort, chosen, onSort, onChoose, onToggleGroup } = props
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
  const { at, choose } = useMoves({
    ...{ runs, list, chosen, onChoose, onToggleGroup, box },
    scrollTo: line => rows.scrollToIndex(line),
  })
  const ids = inView.map(({ index }) => idOf(runs.at(index)))
  const keys = keysOf(ids, from)
  const loaded = runs.loaded()
  const grid = { gridTemplateColumns: `2.2rem ${columns.map(widthOf).join(' ')}` }
  const width = { minWidth: `${Math.max(60, 12 + 7.5 * columns.length)}rem` }
  return (
    <ScrollBox
      ref={box}
      className={styles.box}
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
          {inView.map((item, nth) => {
            const line = runs.at(item.index)
            const place = {
              nth: item.index,
              isAt: item.index === at,
              style: { ...grid, transform: `translateY(${item.start}px)` },
            }
            return line.kind === 'group' ? (
              <GroupLine
                key={keys[nth]}
                {...place}
                {...line}
                columns={columns.length}
                onToggle={() => onToggleGroup(line.project)}
              />
            ) : (
              <RunLine
                key={keys[nth]}
                {...place}
                run={line.run}
                columns={columns}
                isChosen={chosen.has(line.run?.run_id ?? '')}
                onChoose={isRange => choose({ id: ids[nth] ?? null, line: item.index }, isRange)}
              />
            )
          })}
        </div>
      </div>
    </ScrollBox>
  )
}

const widthOf = (column: string): string =>
  column === 'name'
    ? 'minmax(min(14rem, 42vw), 3fr)'
    : column === 'tags'
      ? 'minmax(8rem, 2fr)'
      : 'minmax(6.5rem, 1fr)'
