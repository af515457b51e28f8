import { type Route, route } from '../../auth/route.ts'
import { runAt } from '../../events/runs.ts'
import { Refusal } from '../../platform/refusal.ts'
import { runDeleted, runRestored } from '../../schemas/runs/runs.ts'
import { runIdInPath } from '../../schemas/shared.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { endIngestTokens, untilTokensAreForgotten } from '../rules/ingest-tokens.ts'
import { type RunToActOn, runToActOn } from '../rules/run-to-act-on.ts'
import { deleteRun, restoreRun } from './decide.ts'
import { referencesTo } from './references.ts'

export const deletionRoutes = (deps: Deps): Route[] => [deleteRoute(deps), restoreRoute(deps)]

const deleteRoute = (deps: Deps): Route =>
  route({
    method: 'DELETE',
    path: '/api/runs/{run_id}',
    credential: 'person',
    reach: 'its_people',
    tag: 'runs',
    summary:
      'Delete a run that has ended; its ingest token is invalid then. For 30 days it can be restored',
    params: runIdInPath,
    response: runDeleted,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params } = request
      const asked = params.run_id
      const run = await runToActOn(deps.pool, { asked, caller, action: 'control', noun: 'run' })
      refuseActive(run)
      const { run_id } = run
      let references = {}
      let endedTokens = 0
      const { state } = await commit(deps, request, runAt(run_id), {
        decide: (current, now) => deleteRun(current, run_id, now.getTime()),
        async alongside(tx, { now }) {
          await tx.query('update write.run_state set deleted_at = $2 where run_id = $1', [
            run_id,
            now,
          ])
          endedTokens = await endIngestTokens(tx, run_id, now)
          references = await referencesTo(tx, run_id, caller)
        },
      })
      // Once the response is sent, no report of the run may be accepted any longer.
      if (endedTokens > 0) await untilTokensAreForgotten()
      const { deleted_at, restorable_until } = state
      // Deleted by somebody else a moment ago.
      if (!('references' in references) || deleted_at === null || restorable_until === null)
        throw new Refusal('not_found', `No such run: ${asked}`)
      return {
        run_id,
        deleted_at: toTimestamp(new Date(deleted_at)),
        restorable_until,
        ...references,
      }
    },
  })

const restoreRoute = (deps: Deps): Route =>
  route({
    method: 'POST',
    path: '/api/runs/{run_id}/restore',
    credential: 'person',
    reach: 'its_people',
    tag: 'runs',
    summary: 'Bring back a run that was deleted in the last 30 days',
    params: runIdInPath,
    response: runRestored,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params } = request
      const wanted = { asked: params.run_id, caller, action: 'control', noun: 'run' } as const
      const { run_id } = await runToActOn(deps.pool, { ...wanted, alsoDeleted: true })
      const { events } = await commit(deps, request, runAt(run_id), {
        decide: (current, now) => restoreRun(current, run_id, now.getTime()),
        alongside: tx =>
          tx.query('update write.run_state set deleted_at = null where run_id = $1', [run_id]),
      })
      return { run_id, restored: true, already: events.length === 0 }
    },
  })

/** Its code would continue to report, and its GPUs would be held by an invisible run. */
function refuseActive({ run_id, source, ended_at }: RunToActOn): void {
  if (ended_at !== null) return
  const where = source === 'job' ? 'jobs' : 'runs'
  throw new Refusal(
    'conflict',
    `Run has not ended; stop it first: POST /api/${where}/${run_id}/stop`,
    { code: 'run.active' },
  )
}
