import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { Tip } from '../../design/tip.tsx'
import { visible } from '../../words/visible.ts'
import styles from './row-state.module.css'
import { StateBadge } from './state-badge.tsx'

type Props = {
  run: Pick<RunRow, 'state' | 'job_state' | 'silent_since' | 'why'>
  tabIndex?: 0 | -1
}

/** The state of a run in a list; on hover and on focus, why it ended without success. */
export const RowState = ({ run, tabIndex = 0 }: Props) =>
  run.why ? (
    // At once: a person who points at the state of a failed run wants to know why.
    <Tip text={visible(run.why)} delayMs={0}>
      <span className={styles.why} tabIndex={tabIndex}>
        <StateBadge run={run} />
      </span>
    </Tip>
  ) : (
    <StateBadge run={run} />
  )
