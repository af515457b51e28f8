import { Select } from '../../design/field.tsx'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { columnWords } from '../runs/column-words.ts'
import { titleOf } from '../runs/use-title.ts'
import { type Order, orderFrom, ordersOf, textOfOrder } from './sort.ts'
import { words } from './words.ts'

type Props = {
  keys: readonly string[]
  /** Columns to sort by, besides the metrics. */
  columns: readonly string[]
  order: Order | null
  onOrder: (order: Order | null) => void
}

/** The order of the runs; the first ten of it are drawn, unless others are chosen. */
export function SortChoice({ keys, columns, order, onOrder }: Props) {
  const say = useWords(words)
  const titles = useWords(columnWords)
  const textOf = ({ column, isFalling }: Order) =>
    (isFalling ? say.highestFirst : say.lowestFirst)(visible(titleOf(column, titles)))
  return (
    <Select
      label={say.sortBy}
      value={order === null ? '' : textOfOrder(order)}
      choices={[
        { value: '', text: say.newestFirst },
        ...ordersOf(keys, columns, order).map(one => ({
          value: textOfOrder(one),
          text: textOf(one),
        })),
      ]}
      onChange={value => onOrder(orderFrom(value))}
    />
  )
}
