import { Ago } from '../../design/time.tsx'
import { useWords, wordsOf } from '../../words/words.ts'
import styles from './head.module.css'
import type { JobDetail } from './phases.ts'
import type { RunRecord } from './use-run.ts'

const words = wordsOf({
  lastHeard: ['Last heard from', '最后一次上报于'],
  silentMeans: [
    'Its process may have ended without a report, or it reports rarely. Force stop ends the run.',
    '其进程可能已意外结束，也可能很少上报。“强制停止”可结束该运行。',
  ],
  no_report: [
    'Its program is running and has reported nothing. The run stays starting, and costs nothing, until the program reports that it is running, e.g. by forge.init().',
    '程序正在运行，但尚未上报任何内容。在程序上报“运行中”（例如通过 forge.init()）之前，运行会一直处于启动状态，且不计费。',
  ],
  unreachable: [
    'Its machine is silent. After ten minutes this attempt counts as lost.',
    '所在机器无响应。十分钟后本次尝试将视为丢失。',
  ],
  no_checkpoint: [
    'This attempt has registered no checkpoint, so a pause loses its work.',
    '本次尝试没有登记检查点，暂停会丢失其成果。',
  ],
  log_truncated: [
    'Its log exceeded the hourly limit, so lines are missing.',
    '日志超过每小时上限，部分行已丢失。',
  ],
})

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
