import { shortNumber } from '../../words/amounts.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { words } from './words.ts'

export type Range = { from: number; to: number }
type Scored = { value: number | string; stderr: number | null }

const width = 100
const height = 16
const whisker = 4

/** The range that all of these scores and their errors span; null if none is a number. */
export function rangeOf(scored: readonly Scored[]): Range | null {
  const ends = scored.flatMap(({ value, stderr }) =>
    typeof value === 'number' ? [value - (stderr ?? 0), value + (stderr ?? 0)] : [],
  )
  return ends.length === 0 ? null : { from: Math.min(...ends), to: Math.max(...ends) }
}

/** A score on the scale of all rows, with a whisker of one standard error to either side. */
export function ErrorBar({ of: { value, stderr }, range }: { of: Scored; range: Range | null }) {
  const say = useWords(words)
  if (typeof value !== 'number' || range === null) return null
  const span = range.to - range.from
  const at = (x: number) => (span === 0 ? width / 2 : 2 + ((x - range.from) / span) * (width - 4))
  const [low, high] = [value - (stderr ?? 0), value + (stderr ?? 0)]
  const middle = height / 2
  return (
    <svg
      className={styles.bars}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={say.range(shortNumber(low, 3), shortNumber(high, 3))}
    >
      <line className={styles.base} x1={0} x2={width} y1={middle} y2={middle} />
      {stderr !== null && (
        <>
          <line className={styles.error} x1={at(low)} x2={at(high)} y1={middle} y2={middle} />
          {[low, high].map(end => (
            <line
              key={end}
              className={styles.error}
              x1={at(end)}
              x2={at(end)}
              y1={middle - whisker}
              y2={middle + whisker}
            />
          ))}
        </>
      )}
      <line className={styles.value} x1={at(value)} x2={at(value)} y1={2} y2={height - 2} />
    </svg>
  )
}
