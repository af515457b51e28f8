import styles from './badge.module.css'

/** The colours of states: of jobs, runs, alerts and checks alike. */
const tones: Readonly<Record<string, string>> = {
  running: 'active',
  starting: 'active',
  scheduled: 'active',
  stopping: 'warn',
  pausing: 'warn',
  succeeded: 'good',
  ready: 'good',
  ok: 'good',
  failed: 'bad',
  abandoned: 'bad',
  missing: 'bad',
  critical: 'bad',
  error: 'bad',
  queued: 'wait',
  pending: 'wait',
  held: 'wait',
  paused: 'wait',
  admitted: 'wait',
  warning: 'warn',
  stopped: 'soft',
}

export const Badge = ({ state, text }: { state: string; text?: string }) => (
  <span className={`${styles.badge} ${styles[tones[state] ?? 'soft']}`}>{text ?? state}</span>
)
