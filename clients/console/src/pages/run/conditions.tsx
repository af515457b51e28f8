import { Ago } from '../../design/time.tsx'
import { useWords } from '../../words/words.ts'
import styles from './head.module.css'
import type { JobDetail } from './phases.ts'
import type { RunRecord } from './use-run.ts'
import { words } from './words.ts'

const known = ['unreachable', 'no_report', 'no_checkpoint', 'log_truncated'] as const

/** What else is true of a run in its state, each in a sentence. */
export function Conditions({ run, job }: { run: RunRecord; job: JobDetail | null }) {
  const say = useWords(words)
  const conditions = known.filter(name => job?.conditions.includes(name))
  return (
    <>
      {run.silent_since !== null && (
        <p className={styles.condition} role="status" data-fact="silent">
          {say.lastHeard} <Ago at={run.silent_since} />. {say.silentMeans}
        </p>
      )}
      {conditions.map(name => (
        <p key={name} className={styles.condition} role="status" data-fact={name}>
          {say[name]}
        </p>
      ))}
    </>
  )
}
