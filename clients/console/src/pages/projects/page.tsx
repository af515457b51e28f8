import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { Static } from 'typebox'
import { byInterest } from '../../../../../schemas/metrics/interest.ts'
import type { project } from '../../../../../schemas/projects.ts'
import type { RunRow } from '../../../../../schemas/runs/records.ts'
import type { projectMetricKeys } from '../../../../../schemas/series.ts'
import { ChartList } from '../../charts/chart-list.tsx'
import { strokeOfRun } from '../../charts/colours.ts'
import { pathOfSeries } from '../../charts/project-series.ts'
import { pathOfMetrics } from '../../charts/use-lines.ts'
import { Empty, Failure, Shown } from '../../design/notice.tsx'
import { useLive, useThrottled } from '../../live/use-live.ts'
import { reading, readingPage, reread } from '../../session/api.ts'
import { ApiFailure } from '../../session/failure.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { RunList } from './run-list.tsx'
import { shownOf, shownText } from './shown.ts'
import { words } from './words.ts'

type Project = Static<typeof project>
type MetricKeys = Static<typeof projectMetricKeys>

/** Listed at most; a search finds the others. */
const mostRuns = 200
const rereadMs = 2_000

/** A project as a workspace: its runs, and their curves, both live. Everything that was chosen is in the address. */
export function Page() {
  const { name = '' } = useParams({ strict: false })
  const known = useQuery(reading<Project>(`/api/projects/${encodeURIComponent(name)}`))
  return <Shown of={known}>{data => <Workspace key={name} project={data} />}</Shown>
}

function Workspace({ project }: { project: Project }) {
  const say = useWords(words)
  const { q = '', runs: chosen } = useSearch({ strict: false })
  const go = useGo()
  const [lifted, setLifted] = useState<string | null>(null)
  const found = useRunsOf(project.name, q)
  const runs = found.data?.rows ?? []
  const shown = shownOf(runs, chosen)
  useLiveCurves(project.name, shown)
  const fault =
    found.error instanceof ApiFailure && found.error.status === 422 ? found.error.message : null
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>{project.name}</h1>
        <span className={styles.soft}>
          {project.owner} · {say[project.visibility]}
        </span>
        <span className={styles.space} />
        {shown.length >= 2 && shown.length <= 20 && (
          <Link to="/compare" search={{ runs: shown.map(run => run.short_id).join(',') }}>
            {say.compare}
          </Link>
        )}
        <Link to="/runs" search={{ q: `project:${project.name}` }}>
          {say.table}
        </Link>
      </header>
      {found.error !== null && fault === null && <Failure error={found.error} />}
      {found.data && runs.length === 0 && q === '' ? (
        <Empty
          text={say.noRuns}
          command={`forge run --project ${project.name} -- python3 train.py`}
        />
      ) : (
        <div className={styles.parts}>
          <RunList
            runs={runs}
            total={found.data?.total ?? null}
            shown={shown}
            onShow={next => go({ runs: shownText(runs, next) })}
            lifted={lifted}
            onLift={setLifted}
            q={q}
            fault={fault}
            onSearch={next => go({ q: next || undefined, runs: undefined })}
          />
          <Curves
            project={project.name}
            q={q}
            isKnown={found.data !== undefined}
            shown={shown}
            isEmpty={runs.length === 0}
            lift={{ runId: lifted, onHover: setLifted }}
          />
        </div>
      )}
    </div>
  )
}

type CurvesProps = {
  project: string
  q: string
  isKnown: boolean
  shown: readonly RunRow[]
  isEmpty: boolean
  lift: { runId: string | null; onHover: (runId: string | null) => void }
}

/** Each metric of the shown runs in its own chart, with the line of every run in the run's colour. */
function Curves({ project, q, isKnown, shown, isEmpty, lift }: CurvesProps) {
  const say = useWords(words)
  const keys = useKeys(project, q, shown)
  if (!isKnown) return null
  if (shown.length === 0) return <Empty text={isEmpty ? say.noneFound : say.noneShown} />
  if (keys.length === 0) return <Empty text={say.noMetrics} />
  return (
    <section aria-label={say.curves}>
      <ChartList
        keys={keys}
        chartsOf={found => found.map(key => ({ title: key, keys: [key] }))}
        lift={lift}
        sourceOf={({ keys }) =>
          shown
            .filter(run => isCut(run) || keys.some(key => key in run.summary))
            .map(({ run_id, short_id, name, created_at, started_at }) => ({
              runId: run_id,
              project,
              label: name ?? short_id,
              stroke: strokeOfRun(short_id),
              startMs: Date.parse(started_at ?? created_at),
              keys,
            }))
        }
      />
    </section>
  )
}

function useGo() {
  const navigate = useNavigate()
  return (change: Record<string, string | undefined>) =>
    void navigate({ to: '.', search: old => ({ ...old, ...change }), resetScroll: false })
}

/** The newest runs that match, without archived ones, kept up to date. */
function useRunsOf(project: string, q: string) {
  const again = useThrottled(() => reread('/api/runs'), rereadMs)
  useLive('jobs', { onEvent: again, onGap: again })
  return useQuery({
    ...readingPage<RunRow>('/api/runs', {
      ...{ project, q: q || undefined, limit: mostRuns, archived: 'false' },
    }),
    placeholderData: keepPreviousData,
  })
}

/** A list names at most 50 metrics of a run. */
const isCut = ({ summary, counts }: RunRow) => counts.metric_keys > Object.keys(summary).length

/** The metrics of the shown runs; those of all runs, where the list leaves some of the shown ones out. */
function useKeys(project: string, q: string, shown: readonly RunRow[]): string[] {
  const all = useQuery({
    ...reading<MetricKeys>(`/api/projects/${encodeURIComponent(project)}/metric-keys`, { q }),
    enabled: shown.some(isCut),
    placeholderData: keepPreviousData,
  })
  const named = shown.flatMap(run => Object.keys(run.summary))
  const others = shown.some(isCut) ? (all.data?.keys ?? []).map(({ key }) => key) : []
  return byInterest(new Map([...named, ...others].map(key => [key, { count: 0 }])))
}

function useLiveCurves(project: string, shown: readonly RunRow[]): void {
  const live = shown.filter(({ ended_at }) => ended_at === null).map(({ run_id }) => run_id)
  const ids = live.join()
  // Many curves take the server longer.
  const paceMs = Math.max(rereadMs, live.length * 50)
  useEffect(() => {
    if (ids === '') return
    const timer = setInterval(() => {
      if (!document.hidden)
        void reread('/api/runs', pathOfSeries(project), ...ids.split(',').map(pathOfMetrics))
    }, paceMs)
    return () => clearInterval(timer)
  }, [ids, project, paceMs])
}
