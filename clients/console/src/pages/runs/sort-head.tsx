import { isSortable, orderOf } from './columns.ts'

type Props = {
  /** What a click sorts by. */
  column: string
  title: string
  whole: string
  /** The current order of the table. */
  sort: string
  className: string
  /** The class of the button. */
  inner: string | undefined
  onSort: () => void
}

const arrows = { descending: '↓', ascending: '↑', none: '' }

/** The head of a column, with a button where the server can sort by it. */
export function SortHead({ column, title, whole, sort, className, inner, onSort }: Props) {
  const order = orderOf(column, sort)
  return (
    <span role="columnheader" aria-sort={order} className={className} title={whole}>
      {isSortable(column) ? (
        <button type="button" className={inner} onClick={onSort}>
          {title} <span aria-hidden="true">{arrows[order]}</span>
        </button>
      ) : (
        title
      )}
    </span>
  )
}
