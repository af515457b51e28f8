import type {
  Diagnosed,
  DiagnosisCompleted,
  DiagnosisEvent,
  DiagnosisRequested,
} from '../../events/diagnoses.ts'

/** After this long a diagnosis without a result no longer keeps another one from being made, in milliseconds. */
export const lostAfterMs = 3_600_000

/** A run has at most one diagnosis under way, and at most one automatic one for each attempt. */
export function requestDiagnosis(
  { newest }: Diagnosed,
  request: DiagnosisRequested,
  now: Date,
): DiagnosisEvent[] {
  if (newest !== null && isUnderWay(newest, now)) return []
  const isKnown = newest !== null && newest.attempt === request.attempt
  if (request.trigger === 'auto' && isKnown) return []
  return [{ type: 'diagnosis.requested', data: request }]
}

const isUnderWay = ({ status, requested_at }: NonNullable<Diagnosed['newest']>, now: Date) =>
  status === 'pending' && now.getTime() - Date.parse(requested_at) < lostAfterMs

/** Records a result once, unless a newer diagnosis was asked for. */
export function completeDiagnosis(
  { newest }: Diagnosed,
  completed: DiagnosisCompleted,
): DiagnosisEvent[] {
  if (newest?.diagnosis_id !== completed.diagnosis_id || newest.status !== 'pending') return []
  return [{ type: 'diagnosis.completed', data: completed }]
}
