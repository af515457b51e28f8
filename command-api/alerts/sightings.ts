import type { Alerts } from '../../events/alerts.ts'
import type { Grouping } from '../../platform/series/grouping.ts'
import type { Points } from '../../platform/series/points.ts'
import { joined, noneSeen, type Seen, turnOf } from './decide.ts'
import { isMet, type MetricRule, type Rules, rulesAbout } from './rules.ts'

/** The state of a run: its rules, its alerts as last read, and later observations. */
export type Watched = {
  rules: Rules
  alerts: Alerts
  seen: Map<string, Seen>
  /** The keys of the newest report, with the rules about each; runs report the same keys again and again. */
  keys: readonly string[] | null
  watches: readonly About[]
}

type About = { nth: number; key: string; rule: MetricRule; id: string }

/** An alert that fires or is resolved, with its rule's observations. */
export type Sighting = Pick<About, 'key' | 'rule'> & { seen: Seen }

/** Further keys of a run are not watched: a rule about all losses may match any number of keys. */
const maxSeen = 200

export type Report = Grouping & { from: number; points: Points; attempt: number }

/** Records a report's observations and returns the resulting changes. Idempotent. */
export function look(watched: Watched, report: Report): Sighting[] {
  if (watched.keys !== report.keys) {
    watched.keys = report.keys
    watched.watches = aboutKeys(watched.rules, report.keys)
  }
  if (watched.watches.length === 0) return []
  const ranges = rangesOf(report)
  return watched.watches.flatMap(({ nth, key, rule, id }) => {
    const range = ranges[nth]
    if (!range || (watched.seen.size >= maxSeen && !watched.seen.has(id))) return []
    const seen = joined(watched.seen.get(id) ?? noneSeen, seenIn(report, range, rule))
    watched.seen.set(id, seen)
    const { fires, resolves } = turnOf(watched.alerts, id, seen)
    return fires || resolves ? [{ key, rule, seen }] : []
  })
}

const aboutKeys = (rules: Rules, keys: readonly string[]): About[] =>
  keys.flatMap((key, nth) =>
    rulesAbout(rules, key).map(rule => ({ nth, key, rule, id: `${rule.rule} ${key}` })),
  )

type Range = { from: number; to: number }

function rangesOf({ counts, from }: Grouping & { from: number }): Range[] {
  let next = from
  return counts.map(count => {
    const range = { from: next, to: next + count }
    next = range.to
    return range
  })
}

function seenIn({ points, attempt }: Report, { from, to }: Range, rule: MetricRule): Seen {
  let bad = -1
  let good = -1
  const { steps, values } = points
  const isLater = (i: number, than: number) =>
    than < 0 || (steps[i] as number) >= (steps[than] as number)
  for (let i = from; i < to; i++)
    if (isMet(rule, values[i] as number)) {
      if (isLater(i, bad)) bad = i
    } else if (isLater(i, good)) good = i
  const step = (i: number) => ({ attempt, step: steps[i] as number })
  return {
    bad: bad < 0 ? null : { ...step(bad), value: values[bad] as number },
    good: good < 0 ? null : step(good),
  }
}
