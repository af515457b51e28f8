import type { ReactNode } from 'react'
import styles from './badge.module.css'

export type Tone = 'active' | 'good' | 'bad' | 'warn' | 'wait' | 'soft'

type Props = {
  tone?: Tone
  /** Adds a dot; only `State` sets it. */
  state?: string
  children: ReactNode
}

/** A short mark: a tag, a kind, a warning. What a thing is doing is a `State`. */
export const Badge = ({ tone = 'soft', state, children }: Props) => (
  <span className={`${styles.badge} ${styles[tone]}`} data-state={state}>
    {state !== undefined && <span className={styles.dot} aria-hidden="true" />}
    {children}
  </span>
)
