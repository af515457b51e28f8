import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { QueueExplanation } from '../../../../../schemas/queue.ts'
import { Panel } from '../../design/panel.tsx'
import { reading } from '../../session/api.ts'
import { lengthOf } from '../../words/amounts.ts'
import { useWords } from '../../words/words.ts'
import styles from './head.module.css'
import { words } from './words.ts'

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
