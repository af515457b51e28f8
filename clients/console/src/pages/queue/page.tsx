import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Static } from 'typebox'
import type { jobRow } from '../../../../../schemas/jobs.ts'
import type { QueueRow, queueExplanation, queueList } from '../../../../../schemas/queue.ts'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Copyable } from '../../design/copy.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { Empty, Failure, Shown } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { type Column, Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { useLive, useThrottled } from '../../live/use-live.ts'
import { reading, reread } from '../../session/api.ts'
import { type Me, request } from '../../session/session.ts'
import { lengthOf } from '../../words/amounts.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import type { Holder } from './timeline.ts'
import { Timeline } from './timeline-view.tsx'
import { words } from './words.ts'

type Queue = Static<typeof queueList>
type JobRow = Static<typeof jobRow>

const holding = 'scheduled,starting,running,pausing,stopping'

export function Page() {
  const say = useWords(words)
  const queue = useQuery({
    ...reading<Queue>('/api/queue', { limit: 500 }),
    refetchInterval: 15_000,
  })
  const running = useQuery(reading<JobRow[]>('/api/jobs', { state: holding, limit: 500 }))
  const again = useThrottled(() => void reread('/api/queue', '/api/jobs'), 1_000)
  useLive('jobs', { onEvent: again, onGap: again })
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>{say.title}</h1>
        <PauseButton queue={queue.data} />
      </header>
      <Shown of={queue}>
        {data => (
          <>
            {data.paused && (
              <p className={styles.paused} role="status">
                {say.paused} {data.paused.reason}
              </p>
            )}
            {data.draining.map(({ engine, reason }) => (
              <p key={engine} className={styles.paused}>
                {say.draining(engine)} {reason}
              </p>
            ))}
            <Series jobs={data.jobs} running={running.data ?? []} />
            <Waiting queue={data} />
          </>
        )}
      </Shown>
    </div>
  )
}

/** For administrators: nothing new starts while the queue is paused. */
function PauseButton({ queue }: { queue: Queue | undefined }) {
  const say = useWords(words)
  const me = useQuery(reading<Me>('/api/auth/me'))
  const [error, setError] = useState<unknown>(null)
  if (me.data?.role !== 'admin' || !queue) return null
  const isPaused = queue.paused !== null
  const set = () =>
    request('PUT', '/api/admin/queue', { body: { paused: !isPaused } })
      .then(() => reread('/api/queue'))
      .catch(setError)
  return (
    <>
      <Button onClick={() => void set()}>{isPaused ? say.resume : say.pause}</Button>
      <Failure error={error} />
    </>
  )
}

function Series({ jobs, running }: { jobs: readonly QueueRow[]; running: readonly JobRow[] }) {
  const say = useWords(words)
  const names = [...new Set([...jobs, ...running].map(({ series }) => series))].sort()
  return names.map(series => (
    <Panel key={series} title={say.series(series)}>
      <Timeline
        series={series}
        holders={running.filter(job => job.series === series).map(holderOf)}
        waiting={jobs.filter(job => job.series === series)}
      />
    </Panel>
  ))
}

const holderOf = (job: JobRow): Holder => ({
  shortId: job.short_id,
  owner: job.owner,
  gpus: job.gpus,
  startedMs: Date.parse(job.started_at ?? job.scheduled_at ?? job.admitted_at),
  leftS: job.progress?.eta_s ?? null,
})

function Waiting({ queue }: { queue: Queue }) {
  const say = useWords(words)
  const [asked, setAsked] = useState<QueueRow | null>(null)
  const columns: Column<QueueRow>[] = [
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
          <Badge state={job.state} text={job.reason?.replaceAll('_', ' ') ?? job.state} />{' '}
          {job.detail}
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
    { key: 'since', title: say.since, cell: job => <Ago at={job.submitted_at} /> },
    {
      key: 'why',
      title: '',
      cell: job => (
        <Button kind="quiet" onClick={() => setAsked(job)}>
          {say.why}
        </Button>
      ),
    },
  ]
  return (
    <Panel title={say.waiting(queue.waiting.jobs, queue.waiting.gpus)}>
      {queue.jobs.length === 0 ? (
        <Empty text={say.none}>
          <Copyable text="forge submit job.yaml" />
        </Empty>
      ) : (
        <Table caption={say.title} columns={columns} rows={queue.jobs} keyOf={job => job.run_id} />
      )}
      {queue.waiting.hidden > 0 && (
        <p className={styles.soft}>{say.hidden(queue.waiting.hidden)}</p>
      )}
      {asked && <Explanation job={asked} onClose={() => setAsked(null)} />}
    </Panel>
  )
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
