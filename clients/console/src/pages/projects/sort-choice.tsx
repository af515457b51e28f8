import { Select } from '../../design/field.tsx'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { type Order, orderFrom, ordersOf, textOfOrder } from './sort.ts'
import { words } from './words.ts'

type Props = {
  keys: readonly string[]
  order: Order | null
  onOrder: (order: Order | null) => void
}

/** The order of the runs; the first ten of it are drawn, unless others are chosen. */
export function SortChoice({ keys, order, onOrder }: Props) {
  const say = useWords(words)
  const textOf = ({ key, isFalling }: Order) =>
    (isFalling ? say.highestFirst : say.lowestFirst)(visible(key))
  return (
    <Select
      label={say.sortBy}
      value={order === null ? '' : textOfOrder(order)}
      choices={[
        { value: '', text: say.newestFirst },
        ...ordersOf(keys, order).map(one => ({ value: textOfOrder(one), text: textOf(one) })),
      ]}
      onChange={value => onOrder(orderFrom(value))}
    />
  )
}
