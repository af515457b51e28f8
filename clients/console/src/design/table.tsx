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
}

type Props<Row> = {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
}

const words = wordsOf({ actions: ['Actions', '操作'] })

/** A table of some tens of rows, which becomes a list on a phone; the list of runs has its own, which draws only the rows in view. */
export const Table = <Row,>({ caption, columns, rows, keyOf }: Props<Row>) => (
  // It scrolls by keyboard where it is wider than the page.
  <section className={styles.scroll} tabIndex={0} role="group" aria-label={caption}>
    <table className={styles.table}>
      <caption className="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ key, title, isNumber }) => (
            <th key={key} scope="col" className={isNumber ? styles.number : undefined}>
              {title || <Untitled />}
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
