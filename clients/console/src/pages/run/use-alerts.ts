import { useQuery } from '@tanstack/react-query'
import type { Alert } from '../../../../../schemas/alerts.ts'
import { reading } from '../../session/api.ts'
import { type AlertGroup, alertGroups } from './alert-groups.ts'
import { pathOfRun, type RunRecord } from './use-run.ts'

const none: readonly Alert[] = []

const isOfDiagnosis = ({ kind }: Alert) => kind === 'diagnosis_ready'

/** The newest alerts of a run, by kind. The page says on its own what a diagnosis found. */
export function useAlerts(run: RunRecord): { groups: readonly AlertGroup[] } {
  const { data = none } = useQuery({
    ...reading<readonly Alert[]>(`${pathOfRun(run.run_id)}/alerts`, { limit: 500 }),
    enabled: run.counts.alerts > 0,
  })
  return { groups: alertGroups(data.filter(alert => !isOfDiagnosis(alert))) }
}
