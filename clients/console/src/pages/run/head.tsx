import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { whyFailed } from '../../../../../schemas/why.ts'
import { Badge } from '../../design/badge.tsx'
import { Copyable } from '../../design/copy.tsx'
import { Failure } from '../../design/notice.tsx'
import { Num } from '../../design/number.tsx'
import { Star } from '../../design/star.tsx'
import { Ago, Length } from '../../design/time.tsx'
import { usePart } from '../../design/use-part.ts'
import { useLive } from '../../live/use-live.ts'
import { reread } from '../../session/api.ts'
import { lengthOf } from '../../words/amounts.ts'
import { stateText } from '../../words/states.ts'
import { visible } from '../../words/visible.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import { Actions } from './actions.tsx'
import { AlertText } from './alert-text.tsx'
import { changeRun } from './change.ts'
import styles from './head.module.css'
import { iconOf } from './icon.ts'
import { mainMetricOf } from './main-metric.ts'
import { type JobDetail, type Phase, phasesOf, ranOf } from './phases.ts'
import { StateBadge } from './state-badge.tsx'
import { Title } from './title.tsx'
import { useAlerts } from './use-alerts.ts'
import { useDiagnosis } from './use-diagnosis.ts'
import { pathOfRun, type RunRecord } from './use-run.ts'
import { isUnderWay } from './why.ts'
import { words } from './words.ts'

type Props = { run: RunRecord; job: JobDetail | null }

const loadConditions = () => import('./conditions.tsx')
const loadQueued = () => import('./why-queued.tsx')

/** The identity and progress of a run, and the actions on it. */
export function Head({ run, job }: Props) {
  const say = useWords(words)
  const language = useLanguage()
  const state = job?.state ?? run.state
  useMarkedTab(state, run.name ?? run.short_id)
  const isWaiting = (state === 'queued' || state === 'held') && run.job_exists
  const hasConditions = run.silent_since !== null || (job?.conditions.length ?? 0) > 0
  const conditions = usePart(hasConditions ? loadConditions : null)
  const queued = usePart(isWaiting ? loadQueued : null)
  return (
    <header className={styles.head}>
      <div className={styles.title}>
        <StarOf run={run} />
        <Title run={run} />
        <StateBadge run={run} state={state} />
        {run.archived && <Badge>{say.archived}</Badge>}
        {job?.state_reason && (
          <span className={styles.soft}>{stateText(job.state_reason, language)}</span>
        )}
        <Actions run={run} job={job} />
      </div>
      <Main run={run} />
      <Facts run={run} job={job} />
      <Why run={run} />
      {conditions && <conditions.Conditions run={run} job={job} />}
      <OpenAlerts run={run} />
      <Timeline phases={phasesOf(run, job)} />
      {queued && <queued.WhyQueued runId={run.run_id} />}
    </header>
  )
}

/** One sentence, the same as on the card of the diagnosis. */
function Why({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const isFailed = run.state === 'failed'
  const { newest } = useDiagnosis(run, isFailed)
  const why = whyFailed(run, newest)
  if (why === null) return null
  return (
    <p className={styles.why} role="status" data-fact="why">
      {visible(why)}
      {isFailed && isUnderWay(newest) && ` · ${say.analysing}`}
    </p>
  )
}

const shownAlerts = 3

/** The kinds of alerts that are open, on every tab. */
function OpenAlerts({ run }: { run: RunRecord }) {
  const { groups } = useAlerts(run)
  useLive(`alerts:${run.run_id}`, {
    onEvent: ({ event }) => event === 'alert' && void reread(pathOfRun(run.run_id)),
    onGap: () => {},
  })
  const open = groups.filter(group => group.open > 0).slice(0, shownAlerts)
  if (open.length === 0) return null
  return (
    <ul className={styles.facts} data-fact="alerts">
      {open.map(group => (
        <li key={group.id} className={styles.alert}>
          <AlertText group={group} />
        </li>
      ))}
    </ul>
  )
}

function StarOf({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const [error, setError] = useState<unknown>(null)
  const toggle = () => {
    setError(null)
    void changeRun(run.run_id, { starred: !run.starred })
      .then(() => reread('/api/runs'))
      .catch(setError)
  }
  return (
    <>
      <Star isOn={run.starred} label={say.star(run.short_id)} onToggle={toggle} />
      <Failure error={error} />
    </>
  )
}

/** The number that the run is judged by. */
function Main({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const main = mainMetricOf(run)
  if (main === null) return null
  const { key, of, value, step } = main
  return (
    <p className={styles.main} data-fact="main">
      <strong>
        <Num value={value} label={key} isMain />
      </strong>{' '}
      <span className={styles.soft}>
        {visible(key)} · {say[of]}
        {step !== null && ` · ${say.atStep(step.toLocaleString())}`}
      </span>
    </p>
  )
}

function Facts({ run, job }: Props) {
  const say = useWords(words)
  const ran = ranOf(run, job)
  const hparams = Object.keys(run.hparams).length
  return (
    <p className={styles.facts}>
      <Copyable text={run.short_id} />
      <span>
        {say.project}{' '}
        <Link to="/projects/$name" params={{ name: run.project }}>
          {run.project}
        </Link>
      </span>
      <span>
        {say.by} {run.owner}
      </span>
      {run.recipe && (
        <span>
          {run.recipe.name} {run.recipe.version}
        </span>
      )}
      <span>
        {say.created} <Ago at={run.created_at} />
      </span>
      {ran !== null && (
        <span>
          {say.ranFor}{' '}
          {'from' in ran ? <Length from={ran.from} to={null} /> : lengthOf(ran.seconds)}
        </span>
      )}
      {run.exit_code !== null && (
        <span>
          {say.exitCode} {run.exit_code}
        </span>
      )}
      {hparams > 0 && <span>{say.hparams(hparams)}</span>}
      {run.tags.map(tag => (
        <Badge key={tag}>{visible(tag)}</Badge>
      ))}
    </p>
  )
}

/** The title and the icon of the browser tab show the state. */
function useMarkedTab(state: string, name: string): void {
  const language = useLanguage()
  useEffect(() => {
    const before = document.title
    const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')
    const iconBefore = icon?.href ?? ''
    document.title = `${stateText(state, language)} · ${name} · Forge`
    if (icon) icon.href = iconOf(state)
    return () => {
      document.title = before
      if (icon) icon.href = iconBefore
    }
  }, [state, name, language])
}

function Timeline({ phases }: { phases: readonly Phase[] }) {
  const say = useWords(words)
  const language = useLanguage()
  return (
    <ol className={styles.phases} aria-label={say.phases}>
      {phases.map(({ name, at, seconds, isBilled }, nth) => (
        <li
          key={`${name} ${at}`}
          className={isBilled ? styles.billed : undefined}
          title={`${new Date(at).toLocaleString()}${isBilled ? ` · ${say.billed}` : ''}`}
        >
          {stateText(name, language)}{' '}
          {seconds !== null ? (
            <span className={styles.soft}>{lengthOf(seconds)}</span>
          ) : (
            nth === phases.length - 1 &&
            ['running', 'queued', 'starting'].includes(name) && (
              <span className={styles.soft}>
                <Length from={at} to={null} />
              </span>
            )
          )}
        </li>
      ))}
    </ol>
  )
}
