import StarIcon from 'lucide-react/icons/star'
import { Icon } from './icon.tsx'
import styles from './star.module.css'

type Props = {
  isOn: boolean
  /** The name for screen readers, with the starred thing in it. */
  label: string
  onToggle: () => void
  /** −1 where a key of the page does the same. */
  tabIndex?: number
}

export const Star = ({ isOn, label, onToggle, tabIndex }: Props) => (
  <button
    type="button"
    className={styles.star}
    aria-pressed={isOn}
    aria-label={label}
    title={label}
    tabIndex={tabIndex}
    onClick={onToggle}
  >
    <Icon of={StarIcon} />
  </button>
)
