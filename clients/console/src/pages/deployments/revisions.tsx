import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { ShownRows } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { State } from '../../design/state.tsx'
import { Ago } from '../../design/time.tsx'
import { stateText } from '../../words/states.ts'
import { visible } from '../../words/visible.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import styles from './page.module.css'
import type { Deployment, Revision } from './paths.ts'
import { Promote } from './promote.tsx'
import { stepsOf } from './steps.ts'
import { words } from './words.ts'

type Props = { deployment: Deployment; revisions: UseQueryResult<Revision[]> }

/** The revisions, newest first: how far each has come, and its engines. */
export function Revisions({ deployment, revisions }: Props) {
  const say = useWords(words)
  const [asked, setAsked] = useState<Revision | null>(null)
  const all = revisions.data ?? []
  return (
    <Panel title={say.revisions}>
      <ShownRows of={revisions} none={null}>
        {rows => (
          <ul>
            {rows.map(one => (
              <li key={one.revision_id} className={styles.revision}>
                <Line deployment={deployment} revision={one} onPromote={() => setAsked(one)} />
              </li>
            ))}
          </ul>
        )}
      </ShownRows>
      {asked && (
        <Promote
          deployment={deployment}
          to={asked}
          from={all.find(one => one.promoted)}
          onClose={() => setAsked(null)}
        />
      )}
    </Panel>
  )
}

type LineProps = { deployment: Deployment; revision: Revision; onPromote: () => void }

function Line({ deployment, revision, onPromote }: LineProps) {
  const say = useWords(words)
  const { number, state, promoted, revision_id, source } = revision
  const isWarm = revision_id === deployment.previous_revision_id && state === 'ready'
  return (
    <>
      <div className={styles.row}>
        <strong>{say.revision(number)}</strong>
        <State state={state} />
        {promoted && <Badge tone="good">{say.promoted}</Badge>}
        {isWarm && <Badge>{say.warm}</Badge>}
        <span className={styles.actions}>
          {state === 'ready' && (
            <Link to="/playground" search={{ revisions: revision_id }}>
              {say.try}
            </Link>
          )}
          {state === 'ready' && !promoted && (
            <Button onClick={onPromote} aria-label={`${say.promote}: ${say.revision(number)}`}>
              {say.promote}
            </Button>
          )}
        </span>
      </div>
      <p className={styles.soft}>
        {visible(source.model ?? source.run_id ?? source.url ?? source.artifact_id ?? '')} ·{' '}
        {revision.created_by} · <Ago at={revision.created_at} />
      </p>
      {revision.state_reason && <p className={styles.fault}>{visible(revision.state_reason)}</p>}
      <Steps revision={revision} />
      <Engines revision={revision} />
    </>
  )
}

function Steps({ revision }: { revision: Revision }) {
  const say = useWords(words)
  const language = useLanguage()
  const steps = stepsOf(revision)
  return (
    <ol className={styles.steps} aria-label={say.steps(revision.number)}>
      {steps.map(({ name, is }) => (
        <li key={name} className={styles[is]} aria-current={is === 'now' ? 'step' : undefined}>
          <span aria-hidden="true">{is === 'done' ? '✓' : is === 'now' ? '●' : '○'}</span>
          {stateText(name, language)}
        </li>
      ))}
      {revision.checks.map(({ name, ok, latency_ms, detail }) => (
        <li key={`check ${name}`} className={ok ? styles.done : styles.fault}>
          <span aria-hidden="true">{ok ? '✓' : '✗'}</span>
          {name} {latency_ms} ms {detail !== null && visible(detail)}
        </li>
      ))}
    </ol>
  )
}

const shownEngines = 5

/** The log of an engine is that of its job. */
function Engines({ revision: { engines } }: { revision: Revision }) {
  const say = useWords(words)
  return (
    <>
      {engines.slice(0, shownEngines).map(one => (
        <p key={one.replica_id} className={styles.row}>
          <span className={styles.soft}>{say.engine}</span>
          <State state={one.state} />
          {one.run_id !== null && (
            <Link
              to="/runs/$run_id/$tab"
              params={{ run_id: one.run_id, tab: 'logs' }}
              aria-label={say.logOf(one.replica_id)}
            >
              {say.log}
            </Link>
          )}
          {one.last_error !== null && (
            <span className={styles.fault}>{visible(one.last_error)}</span>
          )}
        </p>
      ))}
      {engines.length > shownEngines && (
        <p className={styles.soft}>{say.andMore(engines.length - shownEngines)}</p>
      )}
    </>
  )
}
