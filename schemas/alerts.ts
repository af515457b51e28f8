import { type Static, Type } from 'typebox'
import { metricValue } from './metrics/metrics.ts'
import { closed, nullable, oneOf, pageQuery, timestamp } from './shared.ts'

/** The topic of an alert; each is also a kind of notification. */
export const alertKinds = [
  'metric_alert',
  'job_wasting_gpu',
  'diagnosis_ready',
  'artifact_missing',
] as const

export const alertLevels = ['info', 'warn', 'error'] as const

/** The additional action of a rule: `then` of a JobSpec. */
export const consequences = ['notify', 'diagnose', 'stop', 'pause'] as const

/** The content of an alert, without the run. */
export const alertContent = {
  alert_id: Type.String(),
  /** Null for runs without a job. */
  attempt: nullable(Type.Integer({ minimum: 0 })),
  /**
   * The name of a default rule; `rules[0]` for the first rule of the JobSpec; `code` for alerts raised by the run's
   * code.
   */
  rule: Type.String(),
  source: oneOf('default', 'spec', 'code'),
  kind: oneOf(...alertKinds),
  level: oneOf(...alertLevels),
  title: Type.String(),
  text: Type.String(),
  /** The key of a metric, or the id of an artifact or diagnosis. */
  key: nullable(Type.String()),
  /** Step of the metric at which the condition was met. */
  step: nullable(Type.Integer()),
  value: nullable(metricValue()),
}

/** Why an alert is no longer open. */
export const resolutions = ['recovered', 'run_ended', 'not_running'] as const

/** `noted`: it reports a single event, which cannot be resolved. */
export const alertStates = ['open', 'resolved', 'noted'] as const

export const alert = Type.Object({
  run_id: Type.String(),
  ...alertContent,
  state: oneOf(...alertStates),
  fired_at: timestamp(),
  resolved_at: nullable(timestamp()),
  resolution: nullable(oneOf(...resolutions)),
})
export type Alert = Static<typeof alert>

export const maxAlertTitle = 200
export const maxAlertText = 10_000

/**
 * The body of `POST /api/ingest/alert`: an alert raised by running code. A report with the same `report_id` as an
 * earlier one of the run is a repeat and changes nothing.
 */
export const alertInput = closed({
  run_id: Type.String({ minLength: 1, maxLength: 128 }),
  title: Type.String({ minLength: 1, maxLength: maxAlertTitle }),
  level: Type.Optional(oneOf(...alertLevels)),
  text: Type.Optional(Type.String({ maxLength: maxAlertText })),
  attempt: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  report_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
})
export type AlertInput = Static<typeof alertInput>

/** `already`: it was a repeat. */
export const alertReply = Type.Object({ ok: Type.Literal(true), already: Type.Boolean() })

export const alertListQuery = closed({
  ...pageQuery,
  state: Type.Optional(oneOf(...alertStates)),
})
