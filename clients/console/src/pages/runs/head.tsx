import { useWords } from '../../words/words.ts'
import { isNumeric, isSortable, type MetricColumn, nextSort, orderOf } from './columns.ts'
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

const arrows = { descending: '↓', ascending: '↑', none: '' }

type ColumnProps = Pick<Props, 'sort' | 'onSort' | 'bestOf'> & { column: string }

function ColumnHead({ column, sort, onSort, bestOf }: ColumnProps) {
  const name = useTitle(column)
  const best = column === 'best' ? bestOf : null
  const title = best?.key ?? name
  const sorted = best === null ? column : `metric:${best.key}:${best.of}`
  const order = orderOf(sorted, sort)
  return (
    <span
      role="columnheader"
      aria-sort={order}
      className={`${styles.cell} ${isNumeric(column) ? styles.number : ''}`}
      title={name}
    >
      {isSortable(sorted) ? (
        <button
          type="button"
          className={styles.sort}
          onClick={() => onSort(nextSort(sorted, sort))}
        >
          {title} <span aria-hidden="true">{arrows[order]}</span>
        </button>
      ) : (
        title
      )}
    </span>
  )
}
