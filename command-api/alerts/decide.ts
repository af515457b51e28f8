import {
  type AlertEvent,
  type AlertFired,
  type AlertResolved,
  type Alerts,
  codeWindowMs,
  type Episode,
  episodeOf,
  isAfter,
  maxOfCode,
  noEpisode,
  type Place,
} from '../../events/alerts.ts'
import { Refusal } from '../../platform/refusal.ts'

/** Limits: alerts per rule and key of a run, and pairs of rule and key with alerts per run. */
export const maxFired = 20
const maxEpisodes = 200

/** The last points, among all seen so far, that did and did not meet the condition of a rule about a metric. */
export type Seen = { bad: (Place & { value: number }) | null; good: Place | null }

export const noneSeen: Seen = { bad: null, good: null }

const later = <P extends Place>(a: P | null, b: P | null): P | null =>
  a === null || (b !== null && isAfter(b, a)) ? b : a

/** The order in which points are seen, and how often, does not matter. */
export const joined = (a: Seen, b: Seen): Seen => ({
  bad: later(a.bad, b.bad),
  good: later(a.good, b.good),
})

type Turn = { fires: boolean; resolves: boolean }

/**
 * The changes required by all points seen. An alert fires once for a stretch of points that meet the condition, and
 * is resolved once by a later point that does not; points before that one do not fire it again.
 */
export function turnOf(alerts: Alerts, id: string, { bad, good }: Seen): Turn {
  const episode = alerts.episodes[id] ?? noEpisode
  const fires =
    episode.open === null &&
    bad !== null &&
    isAfter(bad, episode.good) &&
    mayFire(alerts, id, episode)
  const worst = later(episode.bad, bad)
  const isOver = good !== null && isAfter(good, worst)
  return { fires, resolves: isOver && (fires || episode.open !== null) }
}

const mayFire = ({ episodes }: Alerts, id: string, { fired }: Episode) =>
  fired < maxFired && (id in episodes || Object.keys(episodes).length < maxEpisodes)

/** An alert as it fires, at the point `bad` if it is about a metric. */
export type Firing = { fired: AlertFired; seen: Seen }

/** For a rule about a metric: fires, resolves, both, or neither. */
export function judgeMetric(alerts: Alerts, { fired, seen }: Firing): AlertEvent[] {
  const id = episodeOf(fired)
  const { fires, resolves } = turnOf(alerts, id, seen)
  const alert_id = fires ? fired.alert_id : (alerts.episodes[id]?.open ?? fired.alert_id)
  return [
    ...(fires ? [{ type: 'alert.fired', data: fired } as const] : []),
    ...(resolves ? [resolved({ ...fired, alert_id }, 'recovered', seen.good)] : []),
  ]
}

/** No-op if it is already open; alerts that are not lasting fire each time. */
export function fire(alerts: Alerts, fired: AlertFired): AlertEvent[] {
  if (!fired.lasting) return [{ type: 'alert.fired', data: fired }]
  const id = episodeOf(fired)
  const episode = alerts.episodes[id] ?? noEpisode
  const isNew = episode.open === null && mayFire(alerts, id, episode)
  return isNew ? [{ type: 'alert.fired', data: fired }] : []
}

type Ended = Omit<AlertResolved, 'reason' | 'attempt' | 'step'>

/** Unless it was already resolved, or another alert of the rule is open by now. */
export const resolve = (
  alerts: Alerts,
  ended: Ended,
  reason: AlertResolved['reason'],
): AlertEvent[] =>
  alerts.episodes[episodeOf(ended)]?.open === ended.alert_id ? [resolved(ended, reason, null)] : []

/** For an alert that the code of a run raises: unless it is a repeat; refuses too many. */
export function raise({ code }: Alerts, fired: AlertFired, now: Date): AlertEvent[] {
  const { report_id } = fired
  if (report_id !== null && code.report_ids.includes(report_id)) return []
  const fullMs = code.since === null ? 0 : Date.parse(code.since) + codeWindowMs - now.getTime()
  if (fullMs > 0 && code.count >= maxOfCode) throw tooMany(Math.ceil(fullMs / 1000))
  return [{ type: 'alert.fired', data: fired }]
}

const tooMany = (retryAfterSeconds: number) =>
  new Refusal(
    'rate_limited',
    `The code of this run has raised ${maxOfCode} alerts within an hour; the next is allowed in ${retryAfterSeconds} s`,
    {
      code: 'alert.too_many',
      retryAfterSeconds,
      data: { limit: maxOfCode, every_s: codeWindowMs / 1000 },
    },
  )

/** The open alert of the rule, if any. */
export function recover(alerts: Alerts, ended: Omit<Ended, 'alert_id'>): AlertEvent[] {
  const open = alerts.episodes[episodeOf(ended)]?.open ?? null
  return open === null ? [] : [resolved({ ...ended, alert_id: open }, 'recovered', null)]
}

const resolved = (
  { run_id, short_id, project, owner, alert_id, rule, key }: Ended,
  reason: AlertResolved['reason'],
  at: Place | null,
): AlertEvent => ({
  type: 'alert.resolved',
  data: {
    ...{ run_id, short_id, project, owner, alert_id, rule, key, reason },
    attempt: at?.attempt ?? null,
    step: at?.step ?? null,
  },
})
