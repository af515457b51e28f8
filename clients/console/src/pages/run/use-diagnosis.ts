import { useQuery } from '@tanstack/react-query'
import type { Diagnosis } from '../../../../../schemas/diagnoses.ts'
import { reading } from '../../session/api.ts'
import { pathOfRun, type RunRecord } from './use-run.ts'

export const pathOfDiagnoses = (runId: string): string => `${pathOfRun(runId)}/diagnoses`

/** The newest diagnosis of a run; `isWanted`: whether it has to be read. */
export function useDiagnosis(run: RunRecord, isWanted = true) {
  const found = useQuery({
    ...reading<Diagnosis[]>(pathOfDiagnoses(run.run_id)),
    enabled: isWanted,
    refetchInterval: ({ state }) => (isUnderWay(state.data?.[0]) ? 1_500 : false),
  })
  return { newest: found.data?.[0], error: found.error }
}

export const isUnderWay = (diagnosis: Diagnosis | undefined): boolean =>
  diagnosis !== undefined && ['pending', 'running'].includes(diagnosis.status)

/** Why a run failed: by its diagnosis, which is also in the notification, otherwise by how it ended. Null: nobody knows. */
export function whyOf(
  { why }: Pick<RunRecord, 'why'>,
  newest: Pick<Diagnosis, 'status' | 'title' | 'category'> | undefined,
): string | null {
  const isFound = newest?.status === 'succeeded' && newest.category !== 'unknown'
  return (isFound ? newest.title : null) ?? why
}
