import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { columnWords } from '../runs/column-words.ts'
import { isNumeric, type MetricColumn } from '../runs/columns.ts'
import { commonMetric } from '../runs/metric-of-all.ts'
import { SortHead } from '../runs/sort-head.tsx'
import { titleOf } from '../runs/use-title.ts'
import { shortTitle } from './columns.ts'
import styles from './run-rows.module.css'
import { nextOrder, type Order, textOfOrder } from './sort.ts'

type Props = {
  listed: readonly RunRow[]
  columns: readonly string[]
  order: Order | null
  onOrder: (order: Order | null) => void
}

/** The titles of the columns, each a button that sorts by it where the server can. */
export function RunHead({ listed, columns, order, onOrder }: Props) {
  const best = columns.includes('best') ? commonMetric(listed) : null
  return (
    <div role="rowgroup" className={styles.head}>
      <div role="row" className={styles.headRow}>
        {['name', 'state', ...columns].map(column => (
          <Title
            key={column}
            {...{ column, order, onOrder }}
            best={column === 'best' ? best : null}
          />
        ))}
      </div>
    </div>
  )
}

type TitleProps = Pick<Props, 'order' | 'onOrder'> & {
  column: string
  /** The metric that the column of best values shows. */
  best: MetricColumn | null
}

function Title({ column, best, order, onOrder }: TitleProps) {
  const say = useWords(columnWords)
  const whole = visible(best?.key ?? titleOf(column, say))
  const title = shortTitle(whole)
  const sorted = best === null ? column : `metric:${best.key}:${best.of}`
  return (
    <SortHead
      {...{ column: sorted, title, whole, sort: order === null ? '' : textOfOrder(order) }}
      className={`${styles.title} ${column === 'name' ? styles.name : ''} ${isNumeric(column) ? styles.number : ''}`}
      inner={styles.sort}
      onSort={() => onOrder(nextOrder(sorted, order))}
    />
  )
}
