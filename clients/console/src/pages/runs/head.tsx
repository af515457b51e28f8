import { useWords } from '../../words/words.ts'
import { type FieldName, hparamOf, isSortable, metricOf, nextSort } from './columns.ts'
import styles from './table.module.css'
import { words } from './words.ts'

type Props = {
  columns: readonly string[]
  sort: string
  onSort: (sort: string) => void
  /** How many rows are known, and whether all of them are selected. */
  loaded: number
  isAllChosen: boolean
  onChooseAll: (isChosen: boolean) => void
  style: { gridTemplateColumns: string }
}

export function Head({ columns, sort, onSort, loaded, isAllChosen, onChooseAll, style }: Props) {
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
        <ColumnHead key={column} column={column} sort={sort} onSort={onSort} />
      ))}
    </div>
  )
}

type ColumnProps = Pick<Props, 'sort' | 'onSort'> & { column: string }

function ColumnHead({ column, sort, onSort }: ColumnProps) {
  const title = useTitle(column)
  const isDown = sort === `-${column}`
  const isUp = sort === column
  return (
    <span
      role="columnheader"
      aria-sort={isDown ? 'descending' : isUp ? 'ascending' : 'none'}
      className={styles.cell}
      title={title}
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
  const hparam = hparamOf(column)
  if (hparam !== null) return `hparams.${hparam}`
  const metric = metricOf(column)
  if (metric === null) return say[column as FieldName]
  return metric.of === 'last' ? metric.key : `${metric.of} ${metric.key}`
}
