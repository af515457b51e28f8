import { useEffect, useRef, useSyncExternalStore } from 'react'
import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { ScrollBox } from '../../design/scroll-box.tsx'
import { useRows } from '../../design/use-rows.ts'
import { useWords } from '../../words/words.ts'
import { type Chosen, withAll } from './choice.ts'
import { idOf, keysOf } from './cursor.ts'
import { Head } from './head.tsx'
import { commonMetric } from './metric-of-all.ts'
import { GroupLine, RunLine } from './row.tsx'
import styles from './table.module.css'
import { useMoves } from './use-moves.ts'
import type { Runs } from './use-runs.ts'
import { words } from './words.ts'

/** 28 rows on a screen of 1440 × 900; high enough to touch where there is no mouse. */
const rowHeight = matchMedia('(pointer: coarse)').matches ? 40 : 24
/** A phone shows a list: two lines for each run, and its best metric. */
const phone = matchMedia('(max-width: 40rem)')
const phoneRowHeight = 52
const phoneColumns = ['name', 'best']
const isOnPhone = () => phone.matches
const onPhoneChange = (again: () => void) => {
  phone.addEventListener('change', again)
  return () => phone.removeEventListener('change', again)
}

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
  onStar: (run: RunRow) => void
}

/** Draws the lines in view, however many there are. `j` and `k` move, `x` selects, `X` extends to here, `*` stars, Enter opens. */
export function RunTable(props: Props) {
  const { runs, list, chosen, onChoose, onToggleGroup, onStar } = props
  const isPhone = useSyncExternalStore(onPhoneChange, isOnPhone)
  const columns = isPhone ? phoneColumns : props.columns
  const say = useWords(words)
  const box = useRef<HTMLDivElement>(null)
  const {
    rows: inView,
    total,
    scrollTo,
  } = useRows({
    ...{ box, count: runs.lines, height: isPhone ? phoneRowHeight : rowHeight, spare: 12 },
  })
  const [from, to] = [inView[0]?.index ?? 0, inView.at(-1)?.index ?? 0]
  useEffect(() => runs.show(from, to), [runs.show, from, to])
  const { at, choose } = useMoves({
    ...{ runs, list, chosen, onChoose, onToggleGroup, onStar, box },
    scrollTo,
  })
  const ids = inView.map(({ index }) => idOf(runs.at(index)))
  const keys = keysOf(ids, from)
  const grid = { gridTemplateColumns: isPhone ? phoneGrid : gridOf(columns) }
  const width = { minWidth: isPhone ? 0 : `${Math.max(60, 14 + 6.5 * columns.length)}rem` }
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
        <TableHead {...props} columns={columns} style={grid} />
        <div role="rowgroup" style={{ height: total, position: 'relative' }}>
          {inView.map((item, nth) => {
            const line = runs.at(item.index)
            const place = {
              nth: item.index,
              isAt: item.index === at,
              style: { ...grid, height: item.height, transform: `translateY(${item.top}px)` },
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
                isPhone={isPhone}
                isChosen={chosen.has(line.run?.run_id ?? '')}
                onStar={onStar}
                onChoose={isRange => choose({ id: ids[nth] ?? null, line: item.index }, isRange)}
              />
            )
          })}
        </div>
      </div>
    </ScrollBox>
  )
}

type HeadProps = Props & { style: { gridTemplateColumns: string } }

function TableHead({ runs, columns, sort, chosen, onSort, onChoose, style }: HeadProps) {
  const loaded = runs.loaded()
  const common = commonMetric(loaded)
  // While another order is read there are no rows, and the button that asked for it keeps the focus.
  const latest = useRef(common)
  if (loaded.length > 0) latest.current = common
  return (
    <Head
      {...{ columns, sort, onSort, style }}
      bestOf={latest.current}
      loaded={loaded.length}
      isAllChosen={loaded.length > 0 && loaded.every(run => chosen.has(run.run_id))}
      onChooseAll={isChosen => onChoose(withAll(chosen, loaded, isChosen))}
    />
  )
}

const phoneGrid = '3.5rem minmax(0, 1fr) 5rem'
const gridOf = (columns: readonly string[]) => `3.5rem ${columns.map(widthOf).join(' ')}`

const widthOf = (column: string): string =>
  column === 'name'
    ? 'minmax(min(14rem, 42vw), 3fr)'
    : column === 'tags' || column === 'notes'
      ? 'minmax(8rem, 2fr)'
      : column === 'state'
        ? 'minmax(8rem, 1fr)'
        : 'minmax(6.5rem, 1fr)'
