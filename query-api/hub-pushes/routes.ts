import type { Selectable } from 'kysely'
import type { Route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { HubPushTables } from '../../projector/hub-pushes/table.ts'
import { hubPush, hubPushDetail, hubPushListQuery, hubPushPath } from '../../schemas/hub-pushes.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { list, one } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'

export type Tables = HubPushTables

export const hubPushRoutes = (reads: Reads<Tables>): Route[] => [
  list({
    ...asCaller(reads),
    path: '/api/hub-pushes',
    tag: 'hub-pushes',
    summary:
      'List the artifacts that one sends to the hub, the newest first; admins see those of everybody',
    query: hubPushListQuery,
    row: hubPush,
    matching: ({ db }, { caller, query: { state } }) =>
      db
        .selectFrom('hub_pushes')
        .$if(caller.role !== 'admin', found => found.where('owner', '=', caller.username))
        .$if(state !== undefined, found => found.where('state', '=', state ?? 'sent')),
    select: found => found.selectAll().orderBy('created_at', 'desc').orderBy('push_id'),
    shape: rows => rows.map(toPush),
  }),
  one({
    ...asCaller(reads),
    path: '/api/hub-pushes/{push_id}',
    reach: 'its_people',
    tag: 'hub-pushes',
    summary: 'Read how far the sending of an artifact to the hub has come, with its model card',
    params: hubPushPath,
    refusals: ['not_found'],
    response: hubPushDetail,
    async read({ db }, { caller, params: { push_id } }) {
      const row = await db
        .selectFrom('hub_pushes')
        .selectAll()
        .where('push_id', '=', push_id)
        .$if(caller.role !== 'admin', found => found.where('owner', '=', caller.username))
        .executeTakeFirst()
      if (!row) throw new Refusal('not_found', `Nothing is sent to the hub under ${push_id}`)
      return { ...toPush(row), card: row.card }
    },
  }),
]

export const toPush = ({ card: _, change: __, ...row }: Selectable<Tables['hub_pushes']>) => ({
  ...row,
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
})
