import type { Diagnosis } from '../../../../../schemas/diagnoses.ts'
import type { RunRecord } from './use-run.ts'

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
