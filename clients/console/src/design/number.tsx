import type { ReactNode } from 'react'
import { shortNumber } from '../words/amounts.ts'
import styles from './number.module.css'

type Props = {
  value: number | string
  /** Before the whole value on hover. */
  label?: string
  /** The number that the page is about. */
  isMain?: boolean
}

/** Three significant digits; the whole value, after `label` if there is one, on hover. Values that are not finite are text. */
export const Num = ({ value, label, isMain }: Props) => (
  <span
    className={isMain ? styles.main : undefined}
    title={label === undefined ? String(value) : `${label} ${value}`}
  >
    {typeof value === 'number' ? shortNumber(value, 3) : value}
  </span>
)

type FigureProps = { value: number | string; name: string; hint?: string | undefined }

/** A number with its name below: what a page says at first sight. */
export const Figure = ({ value, name, hint }: FigureProps) => (
  <div className={styles.figure}>
    <dt>{name}</dt>
    <dd>
      <Num value={value} isMain />
      {hint !== undefined && <span className={styles.hint}> {hint}</span>}
    </dd>
  </div>
)

/** Figures side by side, in several lines where there is no room. */
export const Figures = ({ children }: { children: ReactNode }) => (
  <dl className={styles.figures}>{children}</dl>
)
