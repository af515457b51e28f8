import type { FingerprintRow } from '../../../../../schemas/diagnoses.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { words } from './words.ts'

const barWidth = 4
const gap = 1
const height = 24
/** A day with a failure has at least this; a day without has the base line alone. */
const least = 3

/** A bar for each day; days without a failure have a base line. */
export function Sparkline({ daily }: { daily: FingerprintRow['daily'] }) {
  const say = useWords(words)
  const most = daily.reduce((top, one) => (one.count > top.count ? one : top), {
    day: '',
    count: 0,
  })
  const total = daily.reduce((sum, { count }) => sum + count, 0)
  const width = daily.length * (barWidth + gap) - gap
  return (
    <svg
      className={styles.sparkline}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={
        total === 0
          ? say.noneIn(daily.length)
          : say.dailyOf(total, daily.length, most.count, most.day)
      }
    >
      {daily.map(({ day, count }, nth) => {
        const tall = count === 0 ? 1 : least + (height - least) * (count / most.count)
        return (
          <rect
            key={day}
            className={count === 0 ? styles.quiet : styles.bar}
            x={nth * (barWidth + gap)}
            y={height - tall}
            width={barWidth}
            height={tall}
          >
            <title>{`${day}: ${count}`}</title>
          </rect>
        )
      })}
    </svg>
  )
}
