import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Copyable } from '../../design/copy.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { Failure } from '../../design/notice.tsx'
import { Ago, Length } from '../../design/time.tsx'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { lengthOf } from '../../words/amounts.ts'
import { useWords } from '../../words/words.ts'
import styles from './head.module.css'
import { type Action, type JobDetail, type Phase, phasesOf, reasonAgainst } from './phases.ts'
import { pathOfJob, pathOfRun, type RunRecord } from './use-run.ts'
import { words } from './words.ts'

type Props = { run: RunRecord; job: JobDetail | null }

/** What a run is, how far it is, and what can be done with it. */
export function Head({ run, job }: Props) {
  const say = useWords(words)
  const state = job?.state ?? run.state
  useEffect(() => {
    const before = document.title
    document.title = `${state} · ${run.name ?? run.short_id} · Forge`
    return () => {
      document.title = before
    }
  }, [state, run.name, run.short_id])
  return (
    <header className={styles.head}>
      <div className={styles.title}>
        <h1>{run.name ?? run.short_id}</h1>
        <Badge state={state} />
        {job?.state_reason && <span className={styles.soft}>{job.state_reason}</span>}
        <Actions run={run} job={job} />
      </div>
      <p className={styles.facts}>
        <Copyable text={run.short_id} />
        <span>
          {say.project} {run.project}
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
        {run.started_at !== null && (
          <span>
            {say.ranFor}{' '}
            {run.ended_at === null ? (
              <Length from={run.started_at} to={null} />
            ) : (
              lengthOf(run.duration_s ?? 0)
            )}
          </span>
        )}
        {run.exit_code !== null && (
          <span>
            {say.exitCode} {run.exit_code}
          </span>
        )}
        {run.tags.map(tag => (
          <Badge key={tag} state="soft" text={tag} />
        ))}
      </p>
      {run.why !== null && (
        <p className={styles.why} role="status" data-fact="why">
          {run.why}
        </p>
      )}
      <Timeline phases={phasesOf(run, job)} />
    </header>
  )
}

function Timeline({ phases }: { phases: readonly Phase[] }) {
  const say = useWords(words)
  return (
    <ol className={styles.phases} aria-label={say.phases}>
      {phases.map(({ name, at, seconds, isBilled }, nth) => (
        <li
          key={`${name} ${at}`}
          className={isBilled ? styles.billed : undefined}
          title={`${new Date(at).toLocaleString()}${isBilled ? ` · ${say.billed}` : ''}`}
        >
          {name}{' '}
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

const actions: readonly Action[] = ['stop', 'pause', 'resume', 'retry', 'clone', 'delete']

function Actions({ run, job }: Props) {
  const say = useWords(words)
  const navigate = useNavigate()
  const [asks, setAsks] = useState<Action | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [busy, setBusy] = useState<Action | null>(null)
  const act = async (action: Action) => {
    setAsks(null)
    setBusy(action)
    setError(null)
    try {
      const { short_id } = await send(action, run)
      await reread('/api/runs', '/api/jobs', '/api/queue')
      if (action === 'retry' && short_id)
        void navigate({ to: '/runs/$run_id', params: { run_id: short_id } })
    } catch (failure) {
      setError(failure)
    }
    setBusy(null)
  }
  const begin = (action: Action) => {
    if (action === 'clone') void navigate({ to: '/submit', search: { from: run.short_id } })
    else if (action === 'stop' || action === 'delete') setAsks(action)
    else void act(action)
  }
  const offered = run.deleted_at === null ? actions : (['restore'] as const)
  return (
    <div className={styles.actions}>
      {offered.map(action => {
        const against = reasonAgainst(action, run, job)
        return (
          <Button
            key={action}
            kind={action === 'stop' || action === 'delete' ? 'danger' : 'plain'}
            busy={busy === action}
            unless={against && say[against]}
            onClick={() => begin(action)}
          >
            {say[action]}
          </Button>
        )
      })}
      {asks !== null && (
        <Dialog title={say[asks]} onClose={() => setAsks(null)}>
          <p>{asks === 'stop' ? say.sureStop : say.sureDelete}</p>
          <Button kind="danger" onClick={() => void act(asks)}>
            {say[asks]}
          </Button>
        </Dialog>
      )}
      <Failure error={error} />
    </div>
  )
}

function send(action: Action, run: RunRecord): Promise<{ short_id?: string }> {
  if (action === 'delete') return request('DELETE', pathOfRun(run.run_id))
  if (action === 'restore') return request('POST', `${pathOfRun(run.run_id)}/restore`)
  const noun = run.job_exists ? pathOfJob(run.run_id) : pathOfRun(run.run_id)
  return request('POST', `${noun}/${action}`, { body: {} })
}
