import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Static } from 'typebox'
import type { jobRow } from '../../../../../schemas/jobs/jobs.ts'
import type { Notification } from '../../../../../schemas/notifications.ts'
import type { RunRow, RunsOfProject } from '../../../../../schemas/runs/records.ts'
import { Empty, Shown, ShownRows } from '../../design/notice.tsx'
import { Num } from '../../design/number.tsx'
import { Panel } from '../../design/panel.tsx'
import { State } from '../../design/state.tsx'
import { Ago, Length } from '../../design/time.tsx'
import { usePart } from '../../design/use-part.ts'
import { useLive, useThrottled } from '../../live/use-live.ts'
import { reading, reread } from '../../session/api.ts'
import { basePath } from '../../session/base-path.ts'
import type { Me } from '../../session/session.ts'
import { stateText } from '../../words/states.ts'
import { visible } from '../../words/visible.ts'
import { useLanguage, useWords, wordsOf } from '../../words/words.ts'
import { mainMetricOf } from '../run/main-metric.ts'
import styles from './page.module.css'
import { barsOf } from './quota-bars.ts'

const words = wordsOf({
  title: [(name: string) => `Hello, ${name}`, (name: string) => `您好，${name}`],
  running: ['Running', '正在运行'],
  waiting: ['Waiting', '等待中'],
  queue: ['The queue', '队列'],
  failed: ['Recent failures', '最近失败'],
  none: ['You have no running jobs. Submit one:', '您没有正在运行的任务。提交一个：'],
  noneWaits: ['You have no waiting jobs.', '您没有等待中的任务。'],
  noneFailed: ['None of your runs failed in the last two weeks.', '最近两周您没有失败的运行。'],
  quota: ['Your quota', '您的配额'],
  unlimited: ['no limit', '不限'],
  heldBy: ['held by', '占用者'],
  alerts: ['Alerts', '告警'],
  noAlerts: ['Nothing needs your attention.', '没有需要您处理的事项。'],
  all: ['All', '全部'],
  byCause: ['By cause', '按原因'],
  allFeed: ['All notifications', '全部通知'],
  gpus: ['GPUs', 'GPU'],
  jobs: ['Jobs', '任务'],
  hours: ['GPU-hours today', '今日 GPU 小时'],
  storage: ['Storage, GB', '存储 (GB)'],
  for: ['for', '已'],
  workspaces: ['Your workspaces', '您的工作区'],
  noWorkspaces: [
    'Each project with runs of yours is a workspace.',
    '每个有您运行的项目都是一个工作区。',
  ],
  runs: [(n: number) => (n === 1 ? '1 run' : `${n} runs`), (n: number) => `${n} 个运行`],
  position: [(n: number) => `place ${n}`, (n: number) => `第 ${n} 位`],
})

type JobRow = Static<typeof jobRow>

const holding = 'scheduled,starting,running,pausing,stopping'
/** The states of jobs that wait or are starting; a job in `running` has its run in the list above. */
const notRunning = 'admitted,held,queued,scheduled,starting,paused'
const failedDays = 14
/** Rows of each list; the rest is one click away. */
const shown = 8

const loadApprovals = () => import('./approvals.tsx')

export function Page() {
  const say = useWords(words)
  const me = useQuery(reading<Me>('/api/auth/me'))
  const again = useThrottled(() => reread('/api/runs', '/api/jobs', '/api/auth/me'), 1_500)
  useLive('jobs', { onEvent: again, onGap: again })
  const waiting = usePart(loadApprovals)
  return (
    <Shown of={me}>
      {who => (
        <div className={styles.page}>
          <h1>{say.title(who.display_name ?? who.username)}</h1>
          <div className={styles.columns}>
            <div className={styles.column}>
              <Running username={who.username} />
              <Waiting username={who.username} />
              <Failed username={who.username} />
            </div>
            <div className={styles.column}>
              {waiting && <waiting.Approvals />}
              <Workspaces username={who.username} />
              <Quota me={who} />
              <Alerts />
            </div>
          </div>
        </div>
      )}
    </Shown>
  )
}

const ofMine = (username: string, state: string) => ({
  owner: username,
  state,
  sort: '-created_at',
  limit: shown,
})

function Running({ username }: { username: string }) {
  const say = useWords(words)
  const runs = useQuery(reading<RunRow[]>('/api/runs', ofMine(username, 'running')))
  return (
    <Panel title={say.running} actions={<AllOf q={`owner:${username} state:running`} />}>
      <ShownRows of={runs} none={<Empty text={say.none} command="forge submit -f job.yaml" />}>
        {rows => <RunList rows={rows} isMeasured />}
      </ShownRows>
    </Panel>
  )
}

function Waiting({ username }: { username: string }) {
  const say = useWords(words)
  const language = useLanguage()
  const query = { owner: username, state: notRunning, limit: shown }
  const jobs = useQuery(reading<JobRow[]>('/api/jobs', query))
  return (
    <Panel title={say.waiting} actions={<Link to="/queue">{say.queue}</Link>}>
      <ShownRows of={jobs} none={<p className={styles.soft}>{say.noneWaits}</p>}>
        {rows => (
          <ul className={styles.list}>
            {rows.map(job => (
              <Item key={job.run_id} run={job}>
                {job.queue ? say.position(job.queue.position) : ''}{' '}
                {stateText(job.queue?.reason ?? job.phase ?? job.state_reason ?? '', language)}
              </Item>
            ))}
          </ul>
        )}
      </ShownRows>
    </Panel>
  )
}

function Failed({ username }: { username: string }) {
  const say = useWords(words)
  const day = 86_400_000
  const since = new Date(Math.floor(Date.now() / day) * day - failedDays * day).toISOString()
  const query = { ...ofMine(username, 'failed,abandoned'), since }
  const runs = useQuery(reading<RunRow[]>('/api/runs', query))
  return (
    <Panel
      title={say.failed}
      actions={
        <>
          <Link to="/diagnoses" search={{ owner: username }}>
            {say.byCause}
          </Link>
          <AllOf q={`owner:${username} (state:failed OR state:abandoned)`} />
        </>
      }
    >
      <ShownRows of={runs} none={<p className={styles.soft}>{say.noneFailed}</p>}>
        {rows => <RunList rows={rows} />}
      </ShownRows>
    </Panel>
  )
}

function AllOf({ q }: { q: string }) {
  const say = useWords(words)
  return (
    <Link to="/runs" search={{ q }}>
      {say.all}
    </Link>
  )
}

type ItemProps = {
  run: { short_id: string; name: string | null; state: string }
  /** What the run has come to. */
  result?: ReactNode
  children: ReactNode
}

const Item = ({ run: { short_id, name, state }, result, children }: ItemProps) => (
  <li>
    <Link to="/runs/$run_id" params={{ run_id: short_id }} className={styles.run}>
      {name ?? short_id} {name !== null && <span className={styles.soft}>{short_id}</span>}
    </Link>
    {result}
    <State state={state} />
    <span className={styles.soft}>{children}</span>
  </li>
)

function RunList({ rows, isMeasured }: { rows: readonly RunRow[]; isMeasured?: boolean }) {
  const say = useWords(words)
  return (
    <ul className={isMeasured ? styles.measured : styles.list}>
      {rows.map(run => (
        <Item key={run.run_id} run={run} result={isMeasured && <Result of={run} />}>
          {run.ended_at === null && run.started_at !== null ? (
            <>
              {say.for} <Length from={run.started_at} to={null} />
            </>
          ) : (
            <Ago at={run.ended_at ?? run.created_at} />
          )}
        </Item>
      ))}
    </ul>
  )
}

/** The number that a run is judged by. */
function Result({ of }: { of: RunRow }) {
  const main = mainMetricOf(of)
  return (
    <span className={styles.result}>
      {main && (
        <>
          <strong>
            <Num value={main.value} label={main.key} />
          </strong>{' '}
          <span className={styles.soft}>{visible(main.key)}</span>
        </>
      )}
    </span>
  )
}

/** The projects that the person works in. */
function Workspaces({ username }: { username: string }) {
  const say = useWords(words)
  const mine = useQuery(
    reading<RunsOfProject[]>('/api/runs/by-project', { q: `owner:${username}` }),
  )
  return (
    <Panel title={say.workspaces} actions={<Link to="/projects">{say.all}</Link>}>
      <ShownRows of={mine} none={<p className={styles.soft}>{say.noWorkspaces}</p>}>
        {rows => (
          <ul className={styles.workspaces}>
            {rows.slice(0, shown).map(({ project, runs }) => (
              <li key={project}>
                <Link to="/projects/$name" params={{ name: project }}>
                  {project}
                </Link>
                <span className={styles.count}>{say.runs(runs)}</span>
              </li>
            ))}
          </ul>
        )}
      </ShownRows>
    </Panel>
  )
}

/** How much of each limit is used, and by which jobs. */
function Quota({ me }: { me: Me }) {
  const say = useWords(words)
  const jobs = useQuery(
    reading<JobRow[]>('/api/jobs', { owner: me.username, state: holding, limit: 100 }),
  )
  const holders = (jobs.data ?? []).filter(job => job.gpus > 0)
  return (
    <Panel title={say.quota}>
      <dl className={styles.bars}>
        {barsOf(me).map(({ name, used, limit, fraction }) => (
          <div key={name}>
            <dt>{say[name]}</dt>
            <dd>
              <strong className={styles.used}>{used}</strong> / {limit ?? say.unlimited}
              {fraction !== null && (
                <meter
                  min={0}
                  max={1}
                  high={0.9}
                  value={Math.min(1, fraction)}
                  aria-label={say[name]}
                />
              )}
            </dd>
          </div>
        ))}
      </dl>
      {holders.length > 0 && (
        <p className={styles.soft}>
          {say.heldBy}{' '}
          {holders.slice(0, shown).map(job => (
            <span key={job.run_id} className={styles.holder}>
              <Link to="/runs/$run_id" params={{ run_id: job.short_id }}>
                {job.short_id}
              </Link>{' '}
              ({job.gpus}){' '}
            </span>
          ))}
        </p>
      )}
    </Panel>
  )
}

function Alerts() {
  const say = useWords(words)
  const feed = useQuery(reading<Notification[]>('/api/notifications', { unread: true, limit: 50 }))
  return (
    <Panel title={say.alerts} actions={<Link to="/notifications">{say.allFeed}</Link>}>
      <Shown of={feed}>
        {entries => {
          const pressing = entries.filter(({ level }) => level !== 'info').slice(0, shown)
          if (pressing.length === 0) return <p className={styles.soft}>{say.noAlerts}</p>
          return (
            <ul className={styles.list}>
              {pressing.map(entry => (
                <li key={entry.notification_id}>
                  {entry.url === null ? (
                    entry.title
                  ) : (
                    <a href={basePath + entry.url}>{entry.title}</a>
                  )}
                  <State state={entry.level} />
                  <span className={styles.soft}>
                    <Ago at={entry.created_at} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }}
      </Shown>
    </Panel>
  )
}
