import { Type } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import type { AlertTables } from '../../projector/alerts/table.ts'
import { alert, alertListQuery } from '../../schemas/alerts.ts'
import { runIdInPath } from '../../schemas/shared.ts'
import { type AccessTables, findRun } from '../access.ts'
import { countRows, pageHeaders } from '../page.ts'
import type { Reads } from '../reads.ts'
import { toAlert } from './record.ts'

export const alertRoutes = (reads: Reads<AlertTables & AccessTables>): Route[] => [
  route({
    method: 'GET',
    path: '/api/runs/{run_id}/alerts',
    credential: 'person',
    reach: 'its_people',
    tag: 'runs',
    summary: 'The alerts of a run, the newest first: of rules, and of its own code',
    params: runIdInPath,
    query: alertListQuery,
    response: Type.Array(alert),
    refusals: ['not_found'],
    async handle({ caller, params, query, ctx }) {
      const { run_id, db } = await findRun(reads, caller, params.run_id)
      const { limit = 50, offset = 0, state } = query
      const ofRun = db
        .selectFrom('alerts')
        .where('run_id', '=', run_id)
        .$if(state !== undefined, one => one.where('state', '=', state ?? 'open'))
      const rows = await ofRun
        .selectAll()
        .orderBy('fired_at', 'desc')
        .orderBy('alert_id', 'desc')
        .limit(limit)
        .offset(offset)
        .execute()
      pageHeaders(
        ctx,
        { limit, offset, shown: rows.length },
        await countRows(db, ofRun.select('alert_id')),
      )
      return rows.map(toAlert)
    },
  }),
]
