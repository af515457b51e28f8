import { type Static, Type } from 'typebox'
import { analyzer, verdictOf } from '../schemas/diagnoses.ts'
import { nullable, oneOf, timestamp } from '../schemas/shared.ts'
import { aggregate, type EventOf, event, type Stamped } from './event.ts'
import { subject } from './job-subject.ts'
import { because } from './words.ts'

const diagnosisId = () => Type.Integer({ minimum: 1 })

/**
 * A person requested a diagnosis of a failed run, or the run has just failed (`auto`). Supersedes earlier diagnoses
 * of the run.
 */
export const diagnosisRequested = event(
  'diagnosis.requested',
  Type.Object({
    diagnosis_id: diagnosisId(),
    ...subject,
    source: oneOf('job', 'external'),
    /** Null for runs without a job. */
    attempt: nullable(Type.Integer({ minimum: 0 })),
    trigger: oneOf('auto', 'manual'),
    requested_by: Type.String(),
  }),
  ({ diagnosis_id, short_id }, who) => `${who} requested diagnosis ${diagnosis_id} of ${short_id}`,
)

/** The rules ran; `verdict` is null if they could not (`error`). */
export const diagnosisCompleted = event(
  'diagnosis.completed',
  Type.Object({
    diagnosis_id: diagnosisId(),
    ...subject,
    attempt: nullable(Type.Integer({ minimum: 0 })),
    trigger: oneOf('auto', 'manual'),
    started_at: timestamp(),
    verdict: nullable(verdictOf),
    analyzer,
    error: nullable(Type.String()),
  }),
  ({ diagnosis_id, short_id, verdict, error }, who) =>
    verdict === null
      ? `${who} could not finish diagnosis ${diagnosis_id} of ${short_id}${because(error)}`
      : `${who} finished diagnosis ${diagnosis_id} of ${short_id}: ${verdict.title}`,
)

/** A plugin said something about a result, perhaps a language model; nothing acts on it. */
export const diagnosisCommented = event(
  'diagnosis.commented',
  Type.Object({
    diagnosis_id: diagnosisId(),
    ...subject,
    plugin: Type.String(),
    model: nullable(Type.String()),
    words: Type.String(),
  }),
  ({ diagnosis_id, short_id, plugin }) =>
    `the plugin ${plugin} commented on diagnosis ${diagnosis_id} of ${short_id}`,
)

export type DiagnosisEvent =
  | EventOf<typeof diagnosisRequested>
  | EventOf<typeof diagnosisCompleted>
  | EventOf<typeof diagnosisCommented>
export type DiagnosisRequested = Static<typeof diagnosisRequested.data>
export type DiagnosisCommented = Static<typeof diagnosisCommented.data>
export type DiagnosisCompleted = Static<typeof diagnosisCompleted.data>

/** The newest diagnosis of a run; null if there is none. */
export type Diagnosed = {
  newest: {
    diagnosis_id: number
    attempt: number | null
    status: 'pending' | 'succeeded' | 'failed'
    requested_at: string
    requested_by: string
    /** The plugins that commented on it. */
    commented: readonly string[]
  } | null
}

function evolve(state: Diagnosed, { type, data, occurred_at }: Stamped<DiagnosisEvent>): Diagnosed {
  const { diagnosis_id } = data
  if (type === 'diagnosis.requested')
    return {
      newest: {
        ...{ diagnosis_id, attempt: data.attempt, status: 'pending', requested_at: occurred_at },
        requested_by: data.requested_by,
        commented: [],
      },
    }
  const { newest } = state
  if (newest?.diagnosis_id !== diagnosis_id) return state
  if (type === 'diagnosis.commented')
    return { newest: { ...newest, commented: [...newest.commented, data.plugin] } }
  return { newest: { ...newest, status: data.verdict === null ? 'failed' : 'succeeded' } }
}

/** One stream for each run. */
export const diagnoses = aggregate('diagnosis', {
  events: [diagnosisRequested, diagnosisCompleted, diagnosisCommented],
  initial: { newest: null },
  evolve,
  snapshot: { shape: 3 },
})
export const diagnosesOf = (runId: string) => diagnoses.at(runId)
