import type { ReactNode } from 'react'
import styles from './table.module.css'

export type Column<Row> = {
  /** Unique in the table. */
  key: string
  title: string
  cell: (row: Row) => ReactNode
  /** Right-aligned, with digits of one width. */
  isNumber?: boolean
}

type Props<Row> = {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
}

/** A table of some tens of rows; the runs have one of their own, which draws only what is in view. */
export const Table = <Row,>({ caption, columns, rows, keyOf }: Props<Row>) => (
  // It scrolls by keyboard where it is wider than the page.
  <section className={styles.scroll} tabIndex={0} aria-label={caption}>
    <table className={styles.table}>
      <caption className="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ key, title, isNumber }) => (
            <th key={key} scope="col" className={isNumber ? styles.number : undefined}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <tr key={keyOf(row)}>
            {columns.map(({ key, cell, isNumber }) => (
              <td key={key} className={isNumber ? styles.number : undefined}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)
