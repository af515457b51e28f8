import { Link } from '@tanstack/react-router'
import { Panel } from '../../design/panel.tsx'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { type Detail, type Stage, searchOf } from './paths.ts'
import { StateOf } from './state-of.tsx'
import { words } from './words.ts'

/** The stages in their order, each with its state and progress. */
export function Graph({ plan }: { plan: Detail }) {
  const say = useWords(words)
  return (
    <Panel title={say.stages}>
      <ol className={styles.graph}>
        {plan.stages.map((stage, nth) => (
          <li key={stage.name} className={styles.node}>
            {nth > 0 && (
              <span className={styles.arrow} aria-hidden="true">
                →
              </span>
            )}
            <Card plan={plan} stage={stage} />
          </li>
        ))}
      </ol>
    </Panel>
  )
}

function Card({ plan, stage }: { plan: Detail; stage: Stage }) {
  const say = useWords(words)
  const { name, kind, state, init_from_stage, deployment_id, best_run_id } = stage
  return (
    <div className={styles.card}>
      <h3>{name}</h3>
      <p>
        <StateOf state={state} /> {say[kind]}
      </p>
      {init_from_stage !== null && <p className={styles.soft}>{say.startsFrom(init_from_stage)}</p>}
      <Progress plan={plan} stage={stage} />
      {deployment_id !== null && (
        <Link to="/deployments/$deployment_id" params={{ deployment_id }}>
          {say.deployment}
        </Link>
      )}
      {best_run_id !== null && (
        <Link to="/runs/$run_id" params={{ run_id: best_run_id }}>
          {say.best}
        </Link>
      )}
    </div>
  )
}

function Progress({ plan, stage }: { plan: Detail; stage: Stage }) {
  const say = useWords(words)
  const { kind, runs, succeeded, failed, name, sweep } = stage
  if (runs === 0) return null
  const ended = succeeded + failed
  return (
    <>
      {kind === 'sweep' && (
        <>
          <progress value={ended} max={runs} aria-label={say.ofRuns(`${ended}`, `${runs}`)} />
          <p className={styles.soft}>
            {say.ofRuns(`${ended}`, `${runs}`)}
            {failed > 0 && `, ${say.failedRuns(`${failed}`)}`}
            {sweep && `, ${say.parallel(`${sweep.max_parallel}`)}`}
          </p>
        </>
      )}
      <Link
        to="/projects/$name"
        params={{ name: plan.project }}
        search={{ q: searchOf(plan.plan_id, name) }}
      >
        {say.workspace}
      </Link>
    </>
  )
}
