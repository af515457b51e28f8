import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import { modelAt } from '../../events/models.ts'
import { aliasInput, aliasMoved, aliasPath, aliasRemovalQuery } from '../../schemas/models.ts'
import { answerPosition, type HttpAsked } from '../commit/asked.ts'
import { transact } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { approvalNeeded } from '../rules/approval-requests.ts'
import { overridesGate } from '../rules/benchmark-gate.ts'
import { modelToActOn } from './act-on.ts'
import { aliasApprovals, askForAlias, carryOut, rulesForAlias } from './approval.ts'
import type { AliasMove } from './decide.ts'
import { foreseeOverridden } from './gate.ts'

export const aliasRoutes = (deps: Deps): Route[] => [
  route({
    method: 'PUT',
    path: '/api/models/{model}/aliases/{alias}',
    credential: 'person',
    reach: 'its_people',
    tag: 'models',
    summary: 'Make an alias name a version from now on',
    params: aliasPath,
    body: aliasInput,
    response: aliasMoved,
    refusals: ['invalid', 'forbidden', 'not_found', 'conflict'],
    handle: request => {
      const { version: to, reason = '', expected_version: expected, override_gates } = request.body
      return move(deps, request, { to, reason, expected }, override_gates)
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/models/{model}/aliases/{alias}',
    credential: 'person',
    reach: 'its_people',
    tag: 'models',
    summary: 'Remove an alias; its history stays',
    params: aliasPath,
    query: aliasRemovalQuery,
    response: aliasMoved,
    refusals: ['invalid', 'forbidden', 'not_found', 'conflict'],
    handle: request => {
      const { reason = '', expected_version: expected } = request.query
      return move(deps, request, { to: null, reason, expected })
    },
  }),
]

type OnAlias = HttpAsked & { caller: Person; params: { model: string; alias: string } }

async function move(
  deps: Deps,
  request: OnAlias,
  to: Pick<AliasMove, 'to' | 'reason' | 'expected'>,
  override_gates = false,
) {
  const { caller, params } = request
  const { model, alias } = params
  const { mayControl, mayConfigure } = await modelToActOn(deps.pool, {
    ...{ model, caller, action: 'submit' },
  })
  const overrides = { override_gates, reason: to.reason }
  const overridden = overridesGate(overrides, { mayOverride: mayConfigure, noun: 'model' })
    ? await foreseeOverridden(deps, model, { alias, to: to.to })
    : []
  const asked = { model, alias, ...to, mayMoveProtected: mayControl, overridden }
  const rules = to.to === null ? [] : await rulesForAlias(deps.pool, alias)
  const { result, position } = await transact(deps, request, {
    target: modelAt(model),
    locks: rules.length === 0 ? [] : [aliasApprovals(model, alias).stream],
    make: async work =>
      (await askForAlias(deps, work, { asked, caller, rules })) ??
      (await carryOut(deps, work, { asked, caller })),
  })
  if ('awaited' in result) throw approvalNeeded(result.awaited)
  if (position !== null) answerPosition(request, position)
  const { events, before } = result
  const previous = before?.aliases.find(one => one.alias === alias)?.version ?? null
  return { model, alias, version: to.to, previous_version: previous, changed: events.length > 0 }
}
