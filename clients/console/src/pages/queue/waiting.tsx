import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Static } from 'typebox'
import type { QueueRow, queueExplanation } from '../../../../../schemas/queue.ts'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { Empty, Shown } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { State } from '../../design/state.tsx'
import { type Column, Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { reading } from '../../session/api.ts'
import { lengthOf } from '../../words/amounts.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { PriorityDialog } from './priority.tsx'
import type { Queue } from './queue.ts'
import { words } from './words.ts'

/** Waiting jobs, in the order in which they will start, and why they wait. */
export function Waiting({ queue }: { queue: Queue }) {
  const say = useWords(words)
  const [asked, setAsked] = useState<QueueRow | null>(null)
  const [ranked, setRanked] = useState<QueueRow | null>(null)
  const columns = useColumns({ onAsk: setAsked, onRank: setRanked })
  return (
    <Panel title={say.waiting(queue.waiting.jobs, queue.waiting.gpus)}>
      {queue.jobs.length === 0 ? (
        <Empty text={say.none} command="forge submit -f job.yaml" />
      ) : (
        <Table caption={say.title} columns={columns} rows={queue.jobs} keyOf={job => job.run_id} />
      )}
      {queue.waiting.hidden > 0 && (
        <p className={styles.soft}>{say.hidden(queue.waiting.hidden)}</p>
      )}
      {ranked && <PriorityDialog job={ranked} onClose={() => setRanked(null)} />}
      {asked && <Explanation job={asked} onClose={() => setAsked(null)} />}
    </Panel>
  )
}

type Acts = { onAsk: (job: QueueRow) => void; onRank: (job: QueueRow) => void }

function useColumns({ onAsk, onRank }: Acts): Column<QueueRow>[] {
  const say = useWords(words)
  return [
    { key: 'place', title: say.place, isNumber: true, cell: job => job.position },
    {
      key: 'job',
      title: say.job,
      cell: job => (
        <Link to="/runs/$run_id" params={{ run_id: job.short_id }}>
          {job.name} <span className={styles.soft}>{job.short_id}</span>
        </Link>
      ),
    },
    { key: 'owner', title: say.owner, cell: job => job.owner },
    { key: 'gpus', title: say.gpus, isNumber: true, cell: job => `${job.gpus} ${job.series}` },
    {
      key: 'reason',
      title: say.reason,
      cell: job => (
        <>
          <State state={job.state} text={job.reason ?? job.state} /> {job.detail}
        </>
      ),
    },
    {
      key: 'eta',
      title: say.starts,
      cell: job =>
        job.eta_s === null
          ? say.unknown
          : say.range(lengthOf(job.eta_s.p50), lengthOf(job.eta_s.p90)),
    },
    {
      key: 'priority',
      title: say.priority,
      isNumber: true,
      cell: job => (
        <Button
          kind="quiet"
          aria-label={say.priorityOf(job.short_id, job.priority)}
          onClick={() => onRank(job)}
        >
          {job.priority}
        </Button>
      ),
    },
    { key: 'since', title: say.since, cell: job => <Ago at={job.submitted_at} /> },
    {
      key: 'why',
      title: '',
      cell: job => (
        <Button kind="quiet" onClick={() => onAsk(job)}>
          {say.why}
        </Button>
      ),
    },
  ]
}

function Explanation({ job, onClose }: { job: QueueRow; onClose: () => void }) {
  const say = useWords(words)
  const found = useQuery(reading<Static<typeof queueExplanation>>(`/api/queue/${job.run_id}`))
  return (
    <Dialog title={say.whyOf(job.short_id)} onClose={onClose}>
      <Shown of={found}>
        {({ detail, ahead, sooner }) => (
          <>
            <p>{detail}</p>
            <p>{say.ahead(ahead.jobs, ahead.gpus)}</p>
            {sooner.length > 0 && (
              <>
                <h3>{say.sooner}</h3>
                <ul className={styles.bullets}>
                  {sooner.map(one => (
                    <li key={one.detail}>{one.detail}</li>
                  ))}
                </ul>
              </>
            )}
          </>
        )}
      </Shown>
    </Dialog>
  )
}
