import { type Static, Type } from 'typebox'
import { alertContent, consequences, resolutions } from '../schemas/alerts.ts'
import { nullable, oneOf } from '../schemas/shared.ts'
import { aggregate, type EventOf, event, type Stamped } from './event.ts'
import { subject } from './job-subject.ts'

/**
 * The condition of a rule was met, or the code of a run raised an alert. A `lasting` alert stays open until it is
 * resolved; the others report a single event.
 */
export const alertFired = event(
  'alert.fired',
  Type.Object({
    ...subject,
    ...alertContent,
    lasting: Type.Boolean(),
    consequences: Type.Array(oneOf(...consequences)),
    /** Identifies repeats of a report by the run's code; null if the code sends none, and for rules. */
    report_id: nullable(Type.String()),
  }),
  ({ short_id, title }, who) => `${who} raised an alert about ${short_id}: ${title}`,
)

/** The condition is no longer met; `attempt` and `step` belong to the metric point that showed it. */
export const alertResolved = event(
  'alert.resolved',
  Type.Object({
    ...subject,
    alert_id: Type.String(),
    rule: Type.String(),
    key: nullable(Type.String()),
    attempt: nullable(Type.Integer({ minimum: 0 })),
    step: nullable(Type.Integer()),
    reason: oneOf(...resolutions),
  }),
  ({ short_id, rule, reason }, who) =>
    `${who} closed the alert ${rule} about ${short_id} (${reason.replaceAll('_', ' ')})`,
)

export type AlertEvent = EventOf<typeof alertFired> | EventOf<typeof alertResolved>
export type AlertFired = Static<typeof alertFired.data>
export type AlertResolved = Static<typeof alertResolved.data>

/** A point of a run in the order in which its code reached it; attempt 0 for runs without a job. */
export type Place = { attempt: number; step: number }

export const isAfter = (a: Place, b: Place | null): boolean =>
  b === null || a.attempt > b.attempt || (a.attempt === b.attempt && a.step > b.step)

/** The state of one rule for one key of a run. */
export type Episode = {
  /** The open alert, if there is one. */
  open: string | null
  /** How often it fired. */
  fired: number
  /** The last point at which the condition was known to be met when firing, or not met when resolved. */
  bad: Place | null
  good: Place | null
}

/** The alerts of a run. `episodes` by `episodeOf`; `code`: reports of its code since a time, with their ids. */
export type Alerts = {
  episodes: Readonly<Record<string, Episode>>
  code: { since: string | null; count: number; report_ids: readonly string[] }
}

export const noEpisode: Episode = { open: null, fired: 0, bad: null, good: null }

export const episodeOf = ({ rule, key }: Pick<AlertFired, 'rule' | 'key'>): string =>
  key === null ? rule : `${rule} ${key}`

/** In milliseconds; reports of code are counted in windows of this length. */
export const codeWindowMs = 3_600_000
/** Maximum reports of a run's code within a window. */
export const maxOfCode = 30

const alertPlaceOf = ({ attempt, step }: Pick<AlertFired, 'attempt' | 'step'>): Place | null =>
  step === null ? null : { attempt: attempt ?? 0, step }

function evolve(alerts: Alerts, event: Stamped<AlertEvent>): Alerts {
  const { data } = event
  if (event.type === 'alert.fired' && !event.data.lasting)
    return data.rule === 'code' ? withReport(alerts, event.data, event.occurred_at) : alerts
  const id = episodeOf(data)
  const before = alerts.episodes[id] ?? noEpisode
  const episode: Episode =
    event.type === 'alert.fired'
      ? { ...before, open: data.alert_id, fired: before.fired + 1, bad: alertPlaceOf(data) }
      : { ...before, open: null, good: alertPlaceOf(data) ?? before.good }
  return { ...alerts, episodes: { ...alerts.episodes, [id]: episode } }
}

function withReport(alerts: Alerts, { report_id }: AlertFired, at: string): Alerts {
  const { since, count, report_ids } = alerts.code
  const isSameWindow = since !== null && Date.parse(at) - Date.parse(since) < codeWindowMs
  return {
    ...alerts,
    code: {
      since: isSameWindow ? since : at,
      count: isSameWindow ? count + 1 : 1,
      report_ids: report_id === null ? report_ids : [...report_ids, report_id].slice(-maxOfCode),
    },
  }
}

/** One stream for each run. */
export const alerts = aggregate('alert', {
  events: [alertFired, alertResolved],
  initial: { episodes: {}, code: { since: null, count: 0, report_ids: [] } },
  evolve,
  snapshot: { shape: 1 },
})
export const alertsOf = (runId: string) => alerts.at(runId)
