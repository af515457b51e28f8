import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { QueueExplanation } from '../../../../../schemas/queue.ts'
import { Panel } from '../../design/panel.tsx'
import { reading } from '../../session/api.ts'
import { lengthOf } from '../../words/amounts.ts'
import { useWords, wordsOf } from '../../words/words.ts'
import styles from './head.module.css'

const words = wordsOf({
  whyQueued: ['Why it waits', '为何等待'],
  queue: ['The queue', '队列'],
  position: [(n: number) => `place ${n} in the queue`, (n: number) => `队列第 ${n} 位`],
  ahead: [
    (jobs: number, gpus: number) => `${jobs} ahead, with ${gpus} GPUs`,
    (jobs: number, gpus: number) => `前面有 ${jobs} 个任务，共 ${gpus} 块 GPU`,
  ],
  eta: [
    (p50: string, p90: string) => `starts in about ${p50}, in ${p90} at most (9 of 10)`,
    (p50: string, p90: string) => `预计 ${p50} 后开始，九成情况下不超过 ${p90}`,
  ],
  sooner: ['What would start it sooner', '如何更早开始'],
})

/** Why a job waits, and what would start it sooner. The queue moves without any change to the job itself. */
export function WhyQueued({ runId }: { runId: string }) {
  const say = useWords(words)
  const { data } = useQuery({
    ...reading<QueueExplanation>(`/api/queue/${encodeURIComponent(runId)}`),
    refetchInterval: 10_000,
  })
  if (!data) return null
  const { detail, position, eta_s, ahead, sooner } = data
  return (
    <Panel title={say.whyQueued} actions={<Link to="/queue">{say.queue}</Link>}>
      <p>{detail}</p>
      <p className={styles.facts}>
        {position !== null && <span>{say.position(position)}</span>}
        {ahead.jobs > 0 && <span>{say.ahead(ahead.jobs, ahead.gpus)}</span>}
        {eta_s !== null && <span>{say.eta(lengthOf(eta_s.p50), lengthOf(eta_s.p90))}</span>}
      </p>
      {sooner.length > 0 && (
        <>
          <h3>{say.sooner}</h3>
          <ul className={styles.bullets}>
            {sooner.map(({ kind, detail: how }) => (
              <li key={`${kind} ${how}`}>{how}</li>
            ))}
          </ul>
        </>
      )}
    </Panel>
  )
}
