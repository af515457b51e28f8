import type { ReactNode } from 'react'
import styles from './tabs.module.css'

/** Links to the parts of a page; the current one has `aria-current="page"`. */
export const Tabs = ({ label, children }: { label: string; children: ReactNode }) => (
  <nav className={styles.tabs} aria-label={label}>
    {children}
  </nav>
)
