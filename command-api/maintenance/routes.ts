import { readMaintenance } from '../../auth/maintenance.ts'
import { type Route, route } from '../../auth/route.ts'
import { type MaintenanceEvent, maintenanceSwitch } from '../../events/maintenance.ts'
import { maintenance, maintenanceInput } from '../../schemas/maintenance.ts'
import { answerPosition, type Deps, stampOf } from '../deps.ts'
import type { Stamp, Transaction } from '../event-store.ts'
import { handle } from '../handle.ts'
import { switchMaintenance } from './decide.ts'

/** `switched` makes every process read the switch; resolves once this one has. */
export const maintenanceRoutes = (deps: Deps, switched: () => Promise<void>): Route[] => [
  route({
    method: 'PUT',
    path: '/api/admin/maintenance',
    credential: 'admin',
    tag: 'admin',
    summary: 'Turn everybody away with a message, or serve again',
    body: maintenanceInput,
    response: maintenance,
    async handle(request) {
      const stamp = stampOf(request, deps.now())
      const { events, position } = await handle(
        deps.store,
        {
          ...maintenanceSwitch,
          stamp,
          reserve: (tx, [decided]) => save(tx, decided, stamp),
        },
        state => switchMaintenance(state, request.body),
      )
      if (events.length > 0) await switched()
      answerPosition(deps, request, position)
      return readMaintenance(deps.pool)
    },
  }),
]

async function save(
  tx: Transaction,
  decided: MaintenanceEvent | undefined,
  { now, actor }: Stamp,
): Promise<void> {
  const message = decided?.type === 'admin.maintenance_on' ? decided.data.message : null
  await tx.query(
    `update auth.maintenance
        set enabled = $1, message = coalesce($2, message), changed_at = $3, changed_by = $4`,
    [message !== null, message, now, actor.id],
  )
}
