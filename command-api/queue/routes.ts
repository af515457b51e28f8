import { type Route, route } from '../../auth/route.ts'
import { engineAt, queueSwitch } from '../../events/queue.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  drainInput,
  enginePath,
  engineRow,
  queueSwitches,
  queueSwitchInput,
} from '../../schemas/queue.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { readSwitches } from '../rules/queue-switches.ts'
import { drainEngine, switchQueue } from './decide.ts'
import { isEngine, saveDrain, saveSwitch } from './switches.ts'

export const queueRoutes = (deps: Deps): Route[] => [
  route({
    method: 'PUT',
    path: '/api/admin/queue',
    credential: 'admin',
    tag: 'admin',
    summary: 'Pause the queue, so that no job starts, or resume it; running jobs continue',
    body: queueSwitchInput,
    response: queueSwitches,
    async handle(request) {
      const { paused, reason } = request.body
      await commit(deps, request, queueSwitch, {
        decide: state => switchQueue(state, { paused, reason: reason || null }),
        alongside: saveSwitch,
      })
      return await readSwitches(deps.pool)
    },
  }),
  route({
    method: 'PUT',
    path: '/api/admin/engines/{engine}',
    credential: 'admin',
    tag: 'admin',
    summary: 'Drain an executor or a machine, so that no job starts there, or let jobs start again',
    params: enginePath,
    body: drainInput,
    response: engineRow,
    refusals: ['not_found'],
    async handle(request) {
      const { engine } = request.params
      const { draining, reason } = request.body
      await commit(deps, request, engineAt(engine), {
        decide: state => drainEngine(state, { engine, draining, reason: reason || null }),
        async alongside(tx, decided) {
          if (!(await isEngine(tx, engine))) throw noSuch(engine)
          await saveDrain(tx, decided)
        },
      })
      const { engines } = await readSwitches(deps.pool)
      const row = engines.find(other => other.engine === engine)
      if (!row) throw noSuch(engine)
      return row
    },
  }),
]

const noSuch = (engine: string) => new Refusal('not_found', `No such engine: ${engine}`)
