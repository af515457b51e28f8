import type { RewardHistogram } from '../../../../../../schemas/validation.ts'
import { shortNumber } from '../../../words/amounts.ts'
import { useWords } from '../../../words/words.ts'
import type { RewardRange } from './reported.ts'
import styles from './tab.module.css'
import { words } from './words.ts'

type Range = RewardRange | null

type Props = {
  data: RewardHistogram | undefined
  range: Range
  onRange: (range: Range) => void
}

/** Rewards of a round; each bar is a button that shows only its samples. */
export function Histogram({ data, range, onRange }: Props) {
  const say = useWords(words)
  if (!data || data.bins.length === 0) return null
  const most = Math.max(...data.bins.map(({ count }) => count))
  return (
    <div className={styles.histogram} role="group" aria-label={say.rewards}>
      {data.bins.map(({ from, to, count }) => {
        const isChosen = range !== null && range.from <= from && range.to >= to
        return (
          <button
            key={from}
            type="button"
            className={styles.bin}
            aria-pressed={isChosen}
            title={`${shortNumber(from, 3)} – ${shortNumber(to, 3)}: ${count}`}
            aria-label={`${shortNumber(from, 3)} – ${shortNumber(to, 3)}: ${count}`}
            onClick={event => onRange(rangeAfter(range, { from, to }, event.shiftKey))}
          >
            <span style={{ height: `${(count / most) * 100}%` }} />
          </button>
        )
      })}
    </div>
  )
}

/** A second click on the same bar removes the filter; with Shift, it extends to all bars between. */
function rangeAfter(now: Range, bar: { from: number; to: number }, isWider: boolean): Range {
  if (now && isWider) return { from: Math.min(now.from, bar.from), to: Math.max(now.to, bar.to) }
  return now?.from === bar.from && now.to === bar.to ? null : bar
}
