import { useWords } from '../../words/words.ts'
import { isNumeric, type MetricColumn, nextSort } from './columns.ts'
import { SortHead } from './sort-head.tsx'
import styles from './table.module.css'
import { useTitle } from './use-title.ts'
import { words } from './words.ts'

type Props = {
  columns: readonly string[]
  sort: string
  onSort: (sort: string) => void
  /** The metric of the column `best`; null: several. */
  bestOf: MetricColumn | null
  /** How many rows are known, and whether all of them are selected. */
  loaded: number
  isAllChosen: boolean
  onChooseAll: (isChosen: boolean) => void
  style: { gridTemplateColumns: string }
}

export function Head({
  columns,
  sort,
  onSort,
  bestOf,
  loaded,
  isAllChosen,
  onChooseAll,
  style,
}: Props) {
  const say = useWords(words)
  return (
    <div role="row" aria-rowindex={1} className={styles.head} style={style}>
      <span role="columnheader" className={styles.check}>
        <input
          type="checkbox"
          aria-label={say.chooseAll}
          title={say.chooseAll}
          disabled={loaded === 0}
          checked={isAllChosen}
          onChange={() => onChooseAll(!isAllChosen)}
        />
      </span>
      {columns.map(column => (
        <ColumnHead key={column} {...{ column, sort, onSort, bestOf }} />
      ))}
    </div>
  )
}

type ColumnProps = Pick<Props, 'sort' | 'onSort' | 'bestOf'> & { column: string }

function ColumnHead({ column, sort, onSort, bestOf }: ColumnProps) {
  const name = useTitle(column)
  const best = column === 'best' ? bestOf : null
  const sorted = best === null ? column : `metric:${best.key}:${best.of}`
  return (
    <SortHead
      {...{ column: sorted, title: best?.key ?? name, whole: name, sort, inner: styles.sort }}
      className={`${styles.cell} ${isNumeric(column) ? styles.number : ''}`}
      onSort={() => onSort(nextSort(sorted, sort))}
    />
  )
}
