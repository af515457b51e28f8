import type { Route } from '../../auth/route.ts'
import type { AlertTables } from '../../projector/alerts/table.ts'
import { alert, alertListQuery } from '../../schemas/alerts.ts'
import { list } from '../reading/list.ts'
import type { Reads } from '../reading/reads.ts'
import { type AccessTables, ofRun } from '../rules/access.ts'
import { toAlert } from './record.ts'

export const alertRoutes = (reads: Reads<AlertTables & AccessTables>): Route[] => [
  list({
    ...ofRun(reads),
    path: '/api/runs/{run_id}/alerts',
    tag: 'runs',
    summary: 'The alerts of a run, newest first: of rules, and of its own code',
    query: alertListQuery,
    row: alert,
    matching: ({ db, run_id }, { query: { state } }) =>
      db
        .selectFrom('alerts')
        .where('run_id', '=', run_id)
        .$if(state !== undefined, one => one.where('state', '=', state ?? 'open')),
    select: alerts => alerts.selectAll().orderBy('fired_at', 'desc').orderBy('alert_id', 'desc'),
    shape: rows => rows.map(toAlert),
  }),
]
