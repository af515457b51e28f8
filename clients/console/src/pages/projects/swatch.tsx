import type { Stroke } from '../../charts/stroke.ts'
import styles from './page.module.css'

/** A piece of a line, as charts draw it. */
export function Swatch({ stroke, isShown }: { stroke: Stroke; isShown: boolean }) {
  const { token, dash } = stroke
  return (
    <svg
      className={styles.swatch}
      viewBox="0 0 28 12"
      aria-hidden="true"
      opacity={isShown ? 1 : 0.3}
    >
      <line
        x1={0}
        x2={28}
        y1={6}
        y2={6}
        strokeWidth={4}
        strokeDasharray={dash.join(' ')}
        style={{ stroke: `var(--${token})` }}
      />
    </svg>
  )
}
