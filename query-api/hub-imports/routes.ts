import type { Selectable } from 'kysely'
import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { HubImportTables } from '../../projector/hub-imports/table.ts'
import {
  hubImport,
  hubImportDetail,
  hubImportListQuery,
  hubImportPath,
  modelHub,
} from '../../schemas/hub-imports.ts'
import { hubReference } from '../../schemas/hub-reference.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { list, one } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'

export type Tables = HubImportTables

export const hubImportRoutes = (reads: Reads<Tables>): Route[] => [
  list({
    ...asCaller(reads),
    path: '/api/hub-imports',
    tag: 'hub-imports',
    summary:
      'List the models that one imports from the hub, the newest first; admins see those of everybody',
    query: hubImportListQuery,
    row: hubImport,
    matching: ({ db }, { caller, query: { owner, state } }) =>
      db
        .selectFrom('hub_imports')
        .$if(caller.role !== 'admin', found => found.where('owner', '=', caller.username))
        .$if(owner !== undefined, found => found.where('owner', '=', owner ?? ''))
        .$if(state !== undefined, found => found.where('state', '=', state ?? 'ready')),
    select: found => found.selectAll().orderBy('created_at', 'desc').orderBy('import_id'),
    shape: rows => rows.map(toImport),
  }),
  one({
    ...asCaller(reads),
    path: '/api/hub-imports/{import_id}',
    reach: 'its_people',
    tag: 'hub-imports',
    summary: 'Read an import, with its files once it is ready',
    params: hubImportPath,
    refusals: ['not_found'],
    response: hubImportDetail,
    async read({ db }, { caller, params: { import_id } }) {
      const row = await db
        .selectFrom('hub_imports')
        .selectAll()
        .where('import_id', '=', import_id)
        .$if(caller.role !== 'admin', found => found.where('owner', '=', caller.username))
        .executeTakeFirst()
      if (!row) throw new Refusal('not_found', `No such import: ${import_id}`)
      return { ...toImport(row), files: row.files }
    },
  }),
]

export const hubRoute = (endpoint: string | null): Route =>
  route({
    method: 'GET',
    path: '/api/model-hub',
    credential: 'person',
    tag: 'hub-imports',
    summary: 'Which hub models are imported from and sent to',
    response: modelHub,
    handle: async () => ({ endpoint }),
  })

export const toImport = ({ files: _, change: __, ...row }: Selectable<Tables['hub_imports']>) => ({
  ...row,
  ref: hubReference(row),
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
})
