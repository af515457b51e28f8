import { Num } from '../design/number.tsx'
import { visible } from '../words/visible.ts'
import { useWords } from '../words/words.ts'
import type { RunFacts } from './axis.ts'
import { hovering } from './hover.ts'
import type { PanelOf } from './panel.ts'
import styles from './panels.module.css'
import { words } from './words.ts'

type Props = {
  panel: PanelOf<'bar'>
  title: string
  runs: readonly RunFacts[]
  lifted: string | null
  onHover: (runId: string | null) => void
}

/** One value of each run as a bar, the greatest first. */
export function Bars({ panel, title, runs, lifted, onHover }: Props) {
  const say = useWords(words)
  const rows = runs
    .flatMap(run => {
      const value = run.valueOf(panel.metric)
      return typeof value === 'number' && Number.isFinite(value) ? [{ run, value }] : []
    })
    .sort((a, b) => b.value - a.value)
  const low = Math.min(0, rows.at(-1)?.value ?? 0)
  const span = Math.max(0, rows[0]?.value ?? 0) - low || 1
  if (rows.length === 0) return <p className={styles.empty}>{say.none}</p>
  return (
    <ul className={styles.bars} aria-label={title}>
      {rows.map(({ run, value }) => (
        <li key={run.runId} {...hovering(run.runId, onHover)}>
          <span className={styles.name} title={visible(run.label)}>
            {visible(run.label)}
          </span>
          <span className={styles.track}>
            <span
              style={{
                left: `${((Math.min(0, value) - low) / span) * 100}%`,
                width: `${Math.max(0.3, (Math.abs(value) / span) * 100)}%`,
                background: `var(--${run.token})`,
                opacity: lifted === null || lifted === run.runId ? 1 : 0.3,
              }}
            />
          </span>
          <span className={styles.number}>
            <Num value={value} />
          </span>
        </li>
      ))}
    </ul>
  )
}
