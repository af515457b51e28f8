import { readMaintenance } from '../../auth/maintenance.ts'
import { type Route, route } from '../../auth/route.ts'
import {
  type Maintenance,
  type MaintenanceEvent,
  maintenanceSwitch,
} from '../../events/maintenance.ts'
import { maintenance, maintenanceInput } from '../../schemas/maintenance.ts'
import { commit, type Decided } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { switchMaintenance } from './decide.ts'

/** `switched` makes every process read the switch; resolves once this one has. */
export const maintenanceRoutes = (deps: Deps, switched: () => Promise<void>): Route[] => [
  route({
    method: 'PUT',
    path: '/api/admin/maintenance',
    credential: 'admin',
    recentSignIn: true,
    tag: 'admin',
    summary: 'Turn everybody away with a message, or resume service',
    body: maintenanceInput,
    servedOnFullDisk: true,
    response: maintenance,
    async handle(request) {
      const { events } = await commit(deps, request, maintenanceSwitch, {
        decide: state => switchMaintenance(state, request.body),
        alongside: save,
      })
      if (events.length > 0) await switched()
      return readMaintenance(deps.pool)
    },
  }),
]

async function save(
  tx: Transaction,
  { state, now, actor }: Decided<Maintenance, MaintenanceEvent>,
): Promise<void> {
  const message = state?.message ?? null
  await tx.query(
    `update auth.maintenance
        set enabled = $1, message = coalesce($2, message), changed_at = $3, changed_by = $4`,
    [message !== null, message, now, actor.id],
  )
}
