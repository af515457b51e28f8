import type { DecisionEvent } from '../../events/all.ts'
import type { DiagnosisRequested } from '../../events/diagnoses.ts'
import type { Recorded } from '../../events/event.ts'
import type { Duty } from '../effects/reactor.ts'

/** A run whose attempt failed; null for runs without a job. */
export type Failed = {
  run_id: string
  attempt: number | null
  /** The run continues: an alert rule requests the diagnosis. */
  isAlert?: true
}

/** Diagnoses every failure, every job stopped at one of its own limits, and whatever the rules of a JobSpec request. */
export function failuresOf({ type, data }: Recorded<DecisionEvent>): Duty<Failed>[] {
  switch (type) {
    case 'job.failed':
      return [{ payload: { run_id: data.run_id, attempt: data.attempt } }]
    case 'job.stopped':
      return data.reason === 'limit'
        ? [{ payload: { run_id: data.run_id, attempt: data.attempt } }]
        : []
    case 'run.failed':
      return [{ payload: { run_id: data.run_id, attempt: null } }]
    case 'alert.fired':
      return data.consequences.includes('diagnose')
        ? [{ payload: { run_id: data.run_id, attempt: null, isAlert: true } }]
        : []
    default:
      return []
  }
}

export const requestsOf = ({ type, data }: Recorded<DecisionEvent>): Duty<DiagnosisRequested>[] =>
  type === 'diagnosis.requested' ? [{ payload: data }] : []
