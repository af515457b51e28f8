import { type AlertFired, alertsOf } from '../../events/alerts.ts'
import { decodeBlock } from '../../platform/series/block.ts'
import { toJsonNumber } from '../../platform/series/json-number.ts'
import { createPoints } from '../../platform/series/points.ts'
import type { Deps } from '../deps.ts'
import { type Follower, factFollower } from '../effects/follower.ts'
import { type Change, decided, nothing, rows } from '../effects/outcome.ts'
import { judgeMetric } from './decide.ts'
import { runMemory } from './memory.ts'
import { observations } from './observations.ts'
import { saveAlerts, saveObserved } from './rows.ts'
import type { AboutRun } from './run.ts'
import { look, type Sighting } from './sightings.ts'
import { metricRuleText, titleOf } from './words.ts'

type Needed = Pick<Deps, 'pool' | 'store' | 'newId'>

/** How late an alert may be in order to save transactions, in milliseconds. */
const paceMs = 250

/**
 * Applies the rules about metrics to reports of runs. Its memory of a run only saves transactions: the run's stream
 * decides whether an alert fires.
 */
export function metricAlerts(): Follower<Needed> {
  const memory = runMemory()
  const reported = observations()
  const points = createPoints()
  return factFollower<Needed>({
    name: 'metric-watch',
    topic: 'metrics',
    begins: 'end',
    onPoison: 'park',
    paceMs,
    begin() {
      memory.clear()
      reported.clear()
    },
    async follow({ run_id, attempt: of, actor, body, received_at_ms }, deps) {
      // The platform's own reports hold no points.
      const run = actor.type === 'system' ? null : await memory.recall(run_id, deps)
      if (run === null) return nothing
      const attempt = of ?? 0
      points.length = 0
      const block = decodeBlock(body, points)
      if (points.length === 0) return nothing
      reported.note(run_id, { ...run.rules.quiet, attempt }, received_at_ms, true)
      const sightings = look(run, { ...block, points, attempt })
      // Alerts are read again with the next report, after these decisions.
      run.isStale ||= sightings.length > 0
      const observed = reported.due(received_at_ms)
      return [
        ...(sightings.length > 0 ? [changeOf(run.about, sightings, deps)] : []),
        ...(observed.length > 0 ? [rows(tx => saveObserved(tx, observed))] : []),
      ]
    },
  })
}

function changeOf(about: AboutRun, sightings: readonly Sighting[], { newId }: Needed): Change {
  const firings = sightings.map(sighting => ({
    seen: sighting.seen,
    fired: firedOf(about, sighting, newId('alr')),
  }))
  return decided(alertsOf(about.run_id), {
    decide: alerts => firings.flatMap(firing => judgeMetric(alerts, firing)),
    alongside: saveAlerts,
  })
}

function firedOf(
  { source, ...named }: AboutRun,
  { rule, key, seen: { bad } }: Sighting,
  alert_id: string,
): AlertFired {
  return {
    ...named,
    ...{ alert_id, rule: rule.rule, source: rule.source, key },
    // Reports need not name their attempt.
    attempt: source === 'job' ? bad?.attempt || null : null,
    kind: 'metric_alert',
    level: rule.op === 'nonfinite' ? 'error' : 'warn',
    title: titleOf(rule, key, bad),
    text: metricRuleText(rule, key),
    step: bad?.step ?? null,
    value: bad && toJsonNumber(bad.value),
    lasting: true,
    consequences: rule.consequences,
    report_id: null,
  }
}
