import { useQuery } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type { jobRow } from '../../../../../schemas/jobs/jobs.ts'
import type { QueueRow } from '../../../../../schemas/queue.ts'
import { Shown } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { useLive, useThrottled } from '../../live/use-live.ts'
import { reading, reread } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { PauseButton } from './pause.tsx'
import type { Queue } from './queue.ts'
import type { Holder } from './timeline.ts'
import { Timeline } from './timeline-view.tsx'
import { Waiting } from './waiting.tsx'
import { words } from './words.ts'

type JobRow = Static<typeof jobRow>

const holding = 'scheduled,starting,running,pausing,stopping'

const readingQueue = reading<Queue>('/api/queue', { limit: 500 })
const readingRunning = reading<JobRow[]>('/api/jobs', { state: holding, limit: 500 })
export const ahead = () => [readingQueue, readingRunning]

export function Page() {
  const say = useWords(words)
  const queue = useQuery({
    ...readingQueue,
    refetchInterval: 15_000,
  })
  const running = useQuery(readingRunning)
  const again = useThrottled(() => reread('/api/queue', '/api/jobs'), 1_000)
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
