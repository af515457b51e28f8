import type { ReactNode } from 'react'
import styles from './badge.module.css'

export type Tone = 'active' | 'good' | 'bad' | 'warn' | 'wait' | 'soft'

/** A short mark: a tag, a kind, a warning. What a thing is doing is a `State`. */
export const Badge = ({ tone = 'soft', children }: { tone?: Tone; children: ReactNode }) => (
  <span className={`${styles.badge} ${styles[tone]}`}>{children}</span>
)
