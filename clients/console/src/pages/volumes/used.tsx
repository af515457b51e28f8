import layout from '../../design/layout.module.css'
import { bytesOf } from '../../words/amounts.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { bytesPerGb, type Volume } from './paths.ts'
import { words } from './words.ts'

/** How full a volume is. */
export function Used({ of: { name, used_bytes, size_gb } }: { of: Volume }) {
  const say = useWords(words)
  const all = size_gb * bytesPerGb
  const size = `${size_gb} GB`
  if (used_bytes === null) return <span className={layout.soft}>{say.unmeasured(size)}</span>
  return (
    <span className={styles.used}>
      <progress aria-label={name} max={all} value={Math.min(used_bytes, all)} />
      {say.of(bytesOf(used_bytes), size)}
    </span>
  )
}
