import { usePart } from '../../../design/use-part.ts'
import { useDiagnosis } from '../use-diagnosis.ts'
import type { RunRecord } from '../use-run.ts'

const loadCard = () => import('./diagnosis-card.tsx')

/** Why a run failed according to the rules, with their evidence; for other runs only on request. */
export function Diagnosed({ run }: { run: RunRecord }) {
  const { newest, error } = useDiagnosis(run)
  const isShown = run.state === 'failed' || newest !== undefined
  const card = usePart(isShown ? loadCard : null)
  return card && <card.DiagnosisCard {...{ run, newest }} unread={error} />
}
