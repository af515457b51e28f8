import { useLanguage, useWords } from '../../words/words.ts'
import styles from './page.module.css'
import type { VersionDetail } from './paths.ts'
import { words } from './words.ts'

type Lengths = NonNullable<VersionDetail['lengths']>

const barWidth = 8
const gap = 1
const height = 60
/** The least height of a bar; an empty bucket has the base line alone. */
const least = 3
/** So that a few buckets do not become blocks. */
const leastBars = 14

/** Rows by their number of characters; each bar spans twice the range of the previous one. */
export function Histogram({ of: { min, max, mean, buckets } }: { of: Lengths }) {
  const say = useWords(words)
  const language = useLanguage()
  const shown = (n: number) => n.toLocaleString(language)
  const most = Math.max(1, ...buckets.map(({ rows }) => rows))
  const width = Math.max(leastBars, buckets.length) * (barWidth + gap) - gap
  return (
    <div className={styles.part}>
      <h3>{say.lengths}</h3>
      <svg
        className={styles.histogram}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={say.lengthsOf(shown(min), shown(max), shown(Math.round(mean)))}
      >
        <line className={styles.base} x1={0} x2={width} y1={height} y2={height} />
        {buckets.map(({ below, rows }, nth) => {
          const tall = rows === 0 ? 1 : least + (height - least) * (rows / most)
          return (
            <rect
              key={below}
              className={rows === 0 ? styles.none : styles.bar}
              x={nth * (barWidth + gap)}
              y={height - tall}
              width={barWidth}
              height={tall}
            >
              <title>{say.bucket(shown(Math.floor(below / 2)), shown(below), shown(rows))}</title>
            </rect>
          )
        })}
      </svg>
      <p className={styles.scale} aria-hidden="true">
        <span>{shown(min)}</span>
        <span>⌀ {shown(Math.round(mean))}</span>
        <span>{shown(max)}</span>
      </p>
    </div>
  )
}
