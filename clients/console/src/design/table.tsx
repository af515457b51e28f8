import type { ReactNode } from 'react'
import { useWords, wordsOf } from '../words/words.ts'
import styles from './table.module.css'

export type Column<Row> = {
  /** Unique in the table. */
  key: string
  /** Empty for the column of buttons. */
  title: string
  cell: (row: Row) => ReactNode
  /** Right-aligned, with tabular digits. */
  isNumber?: boolean
  /** Its title is a button that sorts by it. */
  canSort?: boolean
}

/** The column by which rows are sorted. */
type Sort = { key: string; isDown: boolean }

type Props<Row> = {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  sort?: Sort
  /** The rows are sorted by the page: a list may be longer than the table. */
  onSort?: (sort: Sort) => void
}

const words = wordsOf({ actions: ['Actions', '操作'] })

/** A table of some tens of rows, which becomes a list on a phone; the list of runs has its own, which draws only the rows in view. */
export const Table = <Row,>({ caption, columns, rows, keyOf, sort, onSort }: Props<Row>) => (
  // It scrolls by keyboard where it is wider than the page.
  <section className={styles.scroll} tabIndex={0} role="group" aria-label={caption}>
    <table className={styles.table}>
      <caption className="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ key, title, isNumber, canSort }) => (
            <th
              key={key}
              scope="col"
              className={isNumber ? styles.number : undefined}
              aria-sort={sort?.key === key ? (sort.isDown ? 'descending' : 'ascending') : undefined}
            >
              {canSort && onSort ? (
                <SortButton {...{ column: key, title, sort, onSort }} />
              ) : (
                title || <Untitled />
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <tr key={keyOf(row)}>
            {columns.map(({ key, title, cell, isNumber }) => (
              <td key={key} className={isNumber ? styles.number : undefined} data-title={title}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)

function Untitled() {
  const say = useWords(words)
  return <span className="visually-hidden">{say.actions}</span>
}

type SortProps = {
  column: string
  title: string
  sort: Sort | undefined
  onSort: (sort: Sort) => void
}

/** Large values come first, unless the column is sorted that way already. */
function SortButton({ column, title, sort, onSort }: SortProps) {
  const isIt = sort?.key === column
  return (
    <button
      type="button"
      className={styles.sort}
      onClick={() => onSort({ key: column, isDown: !(isIt && sort.isDown) })}
    >
      <span className={styles.sortTitle} title={title}>
        {title}
      </span>
      {/* Its place is kept, so that nothing shifts. */}
      <span aria-hidden="true" className={isIt ? undefined : styles.unsorted}>
        {isIt && !sort.isDown ? '↑' : '↓'}
      </span>
    </button>
  )
}
