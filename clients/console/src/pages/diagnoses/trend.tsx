import CirclePlus from 'lucide-react/icons/circle-plus'
import Equal from 'lucide-react/icons/equal'
import TrendingDown from 'lucide-react/icons/trending-down'
import TrendingUp from 'lucide-react/icons/trending-up'
import type { FingerprintRow } from '../../../../../schemas/diagnoses.ts'
import { Icon } from '../../design/icon.tsx'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { words } from './words.ts'

const icons = { new: CirclePlus, up: TrendingUp, same: Equal, down: TrendingDown }

/** How the count compares with the period before: an arrow and the change, which screen readers get in words. */
export function Trend({ of: { trend, count, previous_count } }: { of: FingerprintRow }) {
  const say = useWords(words)
  const change = count - previous_count
  const long = {
    new: say.newLong,
    up: say.up(previous_count),
    same: say.same,
    down: say.down(previous_count),
  }[trend]
  const short = { new: say.new, up: `+${change}`, same: '0', down: `−${-change}` }[trend]
  return (
    <span className={`${styles.trend} ${styles[trend]}`} title={long}>
      <Icon of={icons[trend]} />
      <span aria-hidden="true">{short}</span>
      <span className="visually-hidden">{long}</span>
    </span>
  )
}
