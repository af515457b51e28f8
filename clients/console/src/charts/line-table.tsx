import { Table } from '../design/table.tsx'
import { shortNumber } from '../words/amounts.ts'
import { useWords, wordsOf } from '../words/words.ts'
import styles from './chart.module.css'
import type { Line } from './series.ts'

const words = wordsOf({ x: ['At', '位置'] })

const mostRows = 200

/** The data of the chart, for people who prefer to read. */
export function LineTable({ title, lines }: { title: string; lines: readonly Line[] }) {
  const say = useWords(words)
  const places = [...new Set(lines.flatMap(({ x }) => x))].sort((a, b) => a - b)
  const stride = Math.max(1, Math.ceil(places.length / mostRows))
  const rows = places.filter((_, nth) => nth % stride === 0 || nth === places.length - 1)
  const tables = lines.map(({ x, value }) => new Map(x.map((at, nth) => [at, value[nth]])))
  return (
    <div className={styles.table}>
      <Table
        caption={title}
        rows={rows}
        keyOf={String}
        columns={[
          { key: 'x', title: say.x, isNumber: true, cell: x => shortNumber(x, 15) },
          ...lines.map((line, nth) => ({
            key: line.label,
            title: line.label,
            isNumber: true,
            cell: (x: number) => shortOr(tables[nth]?.get(x)),
          })),
        ]}
      />
    </div>
  )
}

const shortOr = (value: number | null | undefined): string =>
  value == null ? '' : shortNumber(value)
