import type {
  Diagnosed,
  DiagnosisCommented,
  DiagnosisCompleted,
  DiagnosisEvent,
  DiagnosisRequested,
} from '../../events/diagnoses.ts'

/** After this long, a diagnosis without a result no longer blocks another one, in milliseconds. */
export const lostAfterMs = 3_600_000

/** The requester of diagnoses caused by alerts. */
export const ofAlert = 'alert rule'

/**
 * A run has at most one diagnosis under way, and at most one automatic diagnosis for each attempt. A diagnosis caused by an
 * alert does not count: the run continued, and its failure must still be diagnosed.
 */
export function requestDiagnosis(
  { newest }: Diagnosed,
  request: DiagnosisRequested,
  now: Date,
): DiagnosisEvent[] {
  const isEarly = newest?.requested_by === ofAlert && request.requested_by !== ofAlert
  if (newest !== null && !isEarly && isUnderWay(newest, now)) return []
  const isKnown = newest !== null && newest.attempt === request.attempt
  if (request.trigger === 'auto' && isKnown && !isEarly) return []
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

/** A plugin comments once on the newest result. */
export function commentDiagnosis(
  { newest }: Diagnosed,
  comment: DiagnosisCommented,
): DiagnosisEvent[] {
  if (newest?.diagnosis_id !== comment.diagnosis_id || newest.status !== 'succeeded') return []
  if (newest.commented.includes(comment.plugin)) return []
  return [{ type: 'diagnosis.commented', data: comment }]
}
