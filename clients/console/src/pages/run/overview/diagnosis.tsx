import { Button } from '../../../design/button.tsx'
import { Failure } from '../../../design/notice.tsx'
import { Panel } from '../../../design/panel.tsx'
import { usePart } from '../../../design/use-part.ts'
import { reread } from '../../../session/api.ts'
import { request } from '../../../session/session.ts'
import { useAct } from '../../../session/use-act.ts'
import { useWords } from '../../../words/words.ts'
import { pathOfDiagnoses, useDiagnosis } from '../use-diagnosis.ts'
import type { RunRecord } from '../use-run.ts'
import { isUnderWay, whyOf } from '../why.ts'
import { words } from './words.ts'

const loadVerdict = () => import('./verdict.tsx')

/** Why a run failed according to the rules, with their evidence; for other runs only on request. */
export function DiagnosisCard({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const { act, error, isBusy } = useAct()
  const { newest, error: unread } = useDiagnosis(run)
  const verdict = usePart(newest?.status === 'succeeded' ? loadVerdict : null)
  const ask = () =>
    act(async () => {
      await request('POST', '/api/job/diagnose', { body: { job_id: run.run_id } })
      await reread(pathOfDiagnoses(run.run_id))
    })
  if (run.state !== 'failed' && !newest) return null
  return (
    <Panel
      title={whyOf(run, newest) ?? say.why}
      actions={
        <Button busy={isBusy} onClick={() => void ask()}>
          {newest ? say.again : say.diagnose}
        </Button>
      }
    >
      <Failure error={error ?? unread} />
      {isUnderWay(newest) && <p role="status">{say.diagnosing}</p>}
      {verdict && newest && <verdict.Verdict diagnosis={newest} />}
    </Panel>
  )
}
