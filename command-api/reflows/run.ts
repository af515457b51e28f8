import type { Person } from '../../auth/caller.ts'
import { reflowAt } from '../../events/reflows.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { transact } from '../commit/commit.ts'
import { loadState } from '../commit/snapshots.ts'
import type { Deps } from '../deps.ts'
import { newestCaptured } from './captured.ts'
import { knownFiring, noSuchReflow, startFiring } from './decide.ts'
import { reflowFor } from './find.ts'
import { capturedLock } from './keep-captured.ts'

type Request = HttpAsked & {
  caller: Person
  params: { reflow_id: string }
  body: { window?: string | null }
}

/** Begins a firing; the same window, and a firing that is under way, begin no other. */
export async function runReflow(deps: Deps, request: Request) {
  const { caller, params, body } = request
  const { reflow_id } = params
  const window = body.window ?? null
  const { source } = await reflowFor(deps, reflow_id, caller)
  const target = reflowAt(reflow_id)
  const { result, position } = await transact(deps, request, {
    target,
    locks: source.deployment_id === null ? [] : [capturedLock],
    async make(work) {
      const { state } = await loadState(deps.store, work.tx, target)
      if (!state) throw noSuchReflow(reflow_id)
      const known = knownFiring(state, window)
      if (known) return { ...known, created: false }
      const until =
        source.deployment_id === null ? 0 : await newestCaptured(work.tx, source.deployment_id)
      const decided = await work.decide(target, {
        decide: reflow => startFiring(reflow, { reflow_id, window, until }),
      })
      const firing = decided.state?.firings ?? 0
      return { firing, state: 'running' as const, created: true }
    },
  })
  if (position !== null) request.ctx.set('Forge-Position', position)
  return { reflow_id, ...result }
}
