import type { Static } from 'typebox'
import type { preflightResult } from '../../../../../schemas/jobs/jobs.ts'
import { Badge } from '../../design/badge.tsx'
import { Failure, Loading } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { State } from '../../design/state.tsx'
import { SpecChanges } from '../../shell/spec-changes.tsx'
import { lengthOf } from '../../words/amounts.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import { gateText } from './gate-text.ts'
import styles from './page.module.css'
import { words } from './words.ts'

export type Preflight = Static<typeof preflightResult>

/** The verdicts of the gates on the current job, refusals first. */
export function Checks({ of }: { of: { data: Preflight | undefined; error: unknown } }) {
  const say = useWords(words)
  return (
    <Panel title={say.checks}>
      <Failure error={of.error} />
      {!of.data && !of.error && <Loading />}
      {of.data && !of.error && <Answer answer={of.data} />}
    </Panel>
  )
}

function Answer({ answer: { gates, warnings, estimate, queue } }: { answer: Preflight }) {
  const say = useWords(words)
  const language = useLanguage()
  const refusing = gates.filter(({ ok }) => !ok)
  return (
    <>
      <p role="status">
        {refusing.length === 0 ? say.allPass(gates.length) : say.refused(refusing.length)}
      </p>
      {estimate && (
        <p>
          {say.estimate(
            estimate.gpu_hours,
            `${estimate.cost} ${estimate.currency}`,
            estimate.basis.replaceAll('_', ' '),
          )}
        </p>
      )}
      {queue && (
        <p>
          {say.queue(queue.position)}
          {queue.eta_s && `, ${say.starts(lengthOf(queue.eta_s.p50), lengthOf(queue.eta_s.p90))}`}
        </p>
      )}
      <ul className={styles.gates}>
        {warnings.map(one => (
          <li key={`${one.code} ${one.detail}`}>
            <Badge tone="warn">{say.warning}</Badge>
            <span>{one.detail}</span>
          </li>
        ))}
        {[...refusing, ...gates.filter(({ ok }) => ok)].map(one => (
          <li key={`${one.gate} ${one.detail}`}>
            <State state={one.ok ? 'ok' : 'failed'} text={one.ok ? say.passes : say.refuses} />
            <span>
              <strong>{gateText(one.gate, language)}</strong> {one.detail}
              <SpecChanges data={one.data} />
              {one.hint && (
                <span className={styles.soft}>
                  {' '}
                  {say.hint}: {one.hint}
                </span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}
