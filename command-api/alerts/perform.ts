import { type AlertEvent, type AlertFired, type Alerts, alertsOf } from '../../events/alerts.ts'
import type { Deps } from '../deps.ts'
import { decided, nothing, type Outcome } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'
import { fire, recover } from './decide.ts'
import { type Found, findingsOf } from './react.ts'
import { saveAlerts } from './rows.ts'
import { names } from './rules.ts'
import { type AboutRun, aboutRun } from './run.ts'

type Needed = Pick<Deps, 'pool' | 'newId'>

/** Alerts the owner of a run to its diagnosis, and to artifacts that the store has lost. */
export const findingAlerts = reactor<Found, Needed>({
  name: 'alert-findings',
  repeat: 'local',
  dutiesOf: findingsOf,
  async perform({ payload }, deps): Promise<Outcome> {
    const run = await aboutRun(deps, payload.run_id)
    if (run === null) return nothing
    const decide = decisionOn(run.about, payload, deps.newId('alr'))
    return [decided(alertsOf(payload.run_id), { decide, alongside: saveAlerts })]
  },
})

function decisionOn(
  { source, ...named }: AboutRun,
  found: Found,
  alert_id: string,
): (alerts: Alerts) => AlertEvent[] {
  const { key } = found
  if (found.what === 'present')
    return alerts => recover(alerts, { ...named, rule: names.missing, key })
  const common = {
    ...{ ...named, alert_id, key, source: 'default', step: null, value: null },
    ...{ text: found.text, consequences: ['notify'], report_id: null },
  } satisfies Partial<AlertFired>
  const fired: AlertFired =
    found.what === 'missing'
      ? {
          ...common,
          ...{ rule: names.missing, kind: 'artifact_missing', level: 'error' },
          ...{ attempt: null, title: `${found.path} is missing`, lasting: true },
        }
      : {
          ...common,
          ...{ rule: names.diagnosis, kind: 'diagnosis_ready', level: 'info' },
          ...{ attempt: source === 'job' ? found.attempt : null },
          ...{ title: found.title, lasting: false },
        }
  return alerts => fire(alerts, fired)
}
