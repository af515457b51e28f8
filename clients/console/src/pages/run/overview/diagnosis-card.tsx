import type { Diagnosis } from '../../../../../../schemas/diagnoses.ts'
import { whyFailed } from '../../../../../../schemas/why.ts'
import { Badge } from '../../../design/badge.tsx'
import { Button } from '../../../design/button.tsx'
import { Failure } from '../../../design/notice.tsx'
import { Panel } from '../../../design/panel.tsx'
import { reread } from '../../../session/api.ts'
import { request } from '../../../session/session.ts'
import { useAct } from '../../../session/use-act.ts'
import { blameText, categoryText } from '../../../words/failures.ts'
import { visible } from '../../../words/visible.ts'
import { useLanguage, useWords } from '../../../words/words.ts'
import { pathOfDiagnoses } from '../use-diagnosis.ts'
import type { RunRecord } from '../use-run.ts'
import { isUnderWay } from '../why.ts'
import styles from './tab.module.css'
import { words } from './words.ts'

type Props = { run: RunRecord; newest: Diagnosis | undefined; unread: unknown }

/** The newest diagnosis of a run, and a button for another one. */
export function DiagnosisCard({ run, newest, unread }: Props) {
  const say = useWords(words)
  const { act, error, isBusy } = useAct()
  const ask = () =>
    act(async () => {
      await request('POST', '/api/job/diagnose', { body: { job_id: run.run_id } })
      await reread(pathOfDiagnoses(run.run_id))
    })
  return (
    <Panel
      title={whyFailed(run, newest) ?? newest?.title ?? say.why}
      actions={
        <Button busy={isBusy} onClick={() => void ask()}>
          {newest ? say.again : say.diagnose}
        </Button>
      }
    >
      <Failure error={error ?? unread} />
      {isUnderWay(newest) && <p role="status">{say.diagnosing}</p>}
      {newest?.status === 'succeeded' && <Verdict diagnosis={newest} />}
    </Panel>
  )
}

function Verdict({ diagnosis }: { diagnosis: Diagnosis }) {
  const say = useWords(words)
  const language = useLanguage()
  const { category, confidence, blame, root_cause, similar } = diagnosis
  const evidence = diagnosis.evidence ?? []
  const suggestions = diagnosis.suggestions ?? []
  return (
    <>
      <p className={styles.marks}>
        {category && <Badge tone="bad">{categoryText(category, language)}</Badge>}
        {blame && <Badge>{`${say.blame}: ${blameText(blame, language)}`}</Badge>}
        {confidence !== null && (
          <span className={styles.soft}>{say.confidence(`${Math.round(confidence * 100)} %`)}</span>
        )}
        {similar && similar.count_30d > 0 && (
          <span className={styles.soft}>{say.similar(similar.count_30d)}</span>
        )}
      </p>
      {root_cause && <p>{root_cause}</p>}
      {suggestions.length > 0 && (
        <>
          <h3>{say.suggestions}</h3>
          <ul className={styles.bullets}>
            {suggestions.map(({ title }) => (
              <li key={title}>{title}</li>
            ))}
          </ul>
        </>
      )}
      {diagnosis.comments.map(({ plugin, model, words: said }) => (
        <blockquote key={plugin}>
          <p className={styles.marks}>
            <Badge tone="warn">{say.saysPlugin(plugin)}</Badge>
            {model !== null && <span className={styles.soft}>{say.byModel(visible(model))}</span>}
          </p>
          <p className={styles.long}>{visible(said)}</p>
        </blockquote>
      ))}
      {evidence.length > 0 && (
        <details>
          <summary>{say.evidence}</summary>
          {evidence.map(({ excerpt }) => (
            <pre key={excerpt} className={styles.words}>
              {excerpt}
            </pre>
          ))}
        </details>
      )}
    </>
  )
}
