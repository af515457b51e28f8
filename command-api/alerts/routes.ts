import { type Route, route } from '../../auth/route.ts'
import { type AlertFired, alertsOf } from '../../events/alerts.ts'
import { Refusal } from '../../platform/refusal.ts'
import { type AlertInput, alertInput, alertReply } from '../../schemas/alerts.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { raise } from './decide.ts'
import { saveAlerts } from './rows.ts'
import { names } from './rules.ts'
import { type AboutRun, aboutRun } from './run.ts'

export const alertRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/ingest/alert',
    credential: 'ingest',
    tag: 'ingest',
    summary: "Raise an alert, of which the run's owner is notified",
    body: alertInput,
    response: alertReply,
    refusals: ['forbidden', 'conflict', 'rate_limited'],
    async handle(request) {
      await deps.reports.admit(request)
      const { body } = request
      const run = await aboutRun(deps, body.run_id)
      if (run === null) throw new Refusal('conflict', 'The run no longer exists')
      const fired = firedOf(run.about, body, deps.newId('alr'))
      const { events } = await commit(deps, request, alertsOf(body.run_id), {
        decide: (alerts, now) => raise(alerts, fired, now),
        alongside: saveAlerts,
      })
      return { ok: true as const, already: events.length === 0 }
    },
  }),
]

const firedOf = (
  { source: _, ...named }: AboutRun,
  { title, level = 'warn', text = '', ...rest }: AlertInput,
  alert_id: string,
): AlertFired => ({
  ...named,
  ...{ alert_id, title, level, text },
  ...{ attempt: rest.attempt ?? null, report_id: rest.report_id ?? null },
  ...{ rule: names.code, source: 'code', kind: 'metric_alert', lasting: false },
  ...{ key: null, step: null, value: null, consequences: ['notify'] },
})
