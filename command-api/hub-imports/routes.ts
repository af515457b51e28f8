import { type Route, route } from '../../auth/route.ts'
import { hubImportAt } from '../../events/hub-imports.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  hubImportDeleted,
  hubImportInput,
  hubImportMade,
  hubImportPath,
} from '../../schemas/hub-imports.ts'
import { hubReference, parseHubReference } from '../../schemas/hub-reference.ts'
import { Invalid } from '../../schemas/validate.ts'
import { commit, create } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { importIdOf } from '../rules/model-hub.ts'
import { pinForPerson } from '../rules/pinned-model.ts'
import { deleteImport, requestImport } from './decide.ts'
import { findImport, saveImport } from './rows.ts'

export const hubImportRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/hub-imports',
    credential: 'person',
    tag: 'hub-imports',
    summary: 'Import a model of the hub, at the commit that the reference names now',
    body: hubImportInput,
    response: hubImportMade,
    refusals: ['invalid', 'conflict', 'not_configured', 'backend_failed'],
    async handle(request) {
      const { caller, body } = request
      const { username: owner } = caller
      const asked = parseHubReference(body.ref)
      if (!asked) throw new Invalid([notReference(body.ref)])
      // Before the transaction: it takes as long as the hub.
      const found = await pinForPerson(deps, { ...asked, username: owner })
      if (found.is === 'refused') throw new Refusal('invalid', found.why, { code: found.code })
      const { repo, revision } = asked
      const model = { repo, commit: found.commit }
      const identity = { import_id: importIdOf(owner, model), owner, ...model }
      const target = hubImportAt(identity)
      return create(deps, request, target, {
        locks: [`imports of ${owner}`],
        async make(work) {
          const { events, state } = await work.decide(target, {
            decide: before => requestImport(before, { ...identity, revision }),
            alongside: saveImport,
          })
          if (!state) throw new Error('an import that was just requested is missing')
          return {
            ...{ import_id: identity.import_id, ref: hubReference(model), ...model, revision },
            ...{ state: state.state, created: events.length > 0 },
          }
        },
      })
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/hub-imports/{import_id}',
    credential: 'person',
    reach: 'its_people',
    tag: 'hub-imports',
    summary: 'Cancel an import, or delete the imported model; 409 while jobs need it',
    params: hubImportPath,
    response: hubImportDeleted,
    refusals: ['not_found', 'conflict'],
    async handle(request) {
      const { caller, params } = request
      const found = await findImport(deps.pool, params.import_id)
      if (!found || (found.owner !== caller.username && caller.role !== 'admin'))
        throw new Refusal('not_found', `No such import: ${params.import_id}`)
      const { state: _, ...identity } = found
      await commit(deps, request, hubImportAt(identity), {
        decide: before => deleteImport(before, identity),
        async alongside(tx, decided) {
          await refuseNeeded(tx, identity, caller)
          await saveImport(tx, decided)
        },
      })
      return { import_id: identity.import_id, deleted: true }
    },
  }),
]

const notReference = (input: string) => ({
  ...{ loc: ['body', 'ref'], type: 'value_error', input },
  msg: 'Value error, a model of the hub is written hub:<org>/<name>, with @<branch, tag or commit> if need be',
})

const named = 100

/** Jobs that have not ended. Admission locks the row as well (`awaitImports`), and then finds it or begins a new one. */
async function refuseNeeded(
  tx: Transaction,
  { import_id, repo, commit }: { import_id: string; repo: string; commit: string },
  { username, role }: { username: string; role: string },
): Promise<void> {
  await tx.query('select from write.hub_import where import_id = $1 for update', [import_id])
  const { rows } = await tx.query<{ id: string; name: string; may_read: boolean }>({
    name: 'runs_of_hub_import',
    text: `select distinct r.id, coalesce(r.name, r.id) as name, write.may_read(r.owner, r.project, $2, $3) as may_read
             from write.use u join write.resource r on r.kind = u.user_kind and r.id = u.user_id
            where u.used_kind = 'hub_import' and u.used_id = $1 and u.until is null and r.deleted_at is null
            order by may_read desc, r.id limit $4`,
    values: [import_id, username, role === 'admin', named],
  })
  if (rows.length === 0) return
  const shown = rows.filter(({ may_read }) => may_read)
  const hidden = rows.length - shown.length
  const who = [
    ...shown.map(({ name }) => name),
    ...(hidden > 0 ? [`${hidden} more that you may not read`] : []),
  ]
  throw new Refusal(
    'conflict',
    `${hubReference({ repo, commit })} is needed by ${who.join(', ')}`,
    {
      code: 'hub.in_use',
      data: { runs: shown.map(({ id }) => id), hidden },
      hint: 'Stop these jobs first, or wait until they have ended',
    },
  )
}
