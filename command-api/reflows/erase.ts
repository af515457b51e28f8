import type { Person } from '../../auth/caller.ts'
import { subjectsOf } from '../../auth/captured.ts'
import { readPositionKey } from '../../auth/position-key.ts'
import { erasuresAt } from '../../events/erasures.ts'
import type { EraseInput, ReflowErased } from '../../schemas/reflows.ts'
import { Invalid } from '../../schemas/validate.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { create } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import type { ReflowPorts } from './port.ts'
import { type Erased, eraseCaptured, versionsWith } from './rows.ts'

type Request = HttpAsked & { caller: Person; body: EraseInput }

/** Deleted by the request itself; more is deleted within the hour, and not taken until then. */
const atOnce = 20_000
const mostVersions = 50

/** Deletes the captured requests of a person or a token, and names the versions and models made of earlier ones. */
export async function eraseRows(
  deps: Deps,
  { reflowSources, consequencesOf }: ReflowPorts,
  request: Request,
): Promise<ReflowErased> {
  const { caller, body } = request
  refuseUnlessOne(body)
  const deployment_id = await reflowSources.deploymentOf(deps, caller, body.deployment_id)
  const erased = await subjectIn(deps, deployment_id, body)
  const target = erasuresAt(deployment_id)
  const { deleted, refs } = await create(deps, request, target, {
    async make(work) {
      const deleted = await eraseCaptured(work.tx, erased, { now: work.now, most: atOnce })
      const refs = await versionsWith(work.tx, erased, mostVersions)
      const { subject, token_id } = erased
      const data = { deployment_id, subject: subject || null, token_id: token_id || null, deleted }
      await work.decide(target, { decide: () => [{ type: 'reflow.erased', data }] })
      return { deleted, refs }
    },
  })
  const found = await consequencesOf(caller, refs.slice(0, mostVersions))
  return { deployment_id, deleted, ...found, truncated: refs.length > mostVersions }
}

function refuseUnlessOne({ user, token_id }: EraseInput): void {
  if ((user === undefined) !== (token_id === undefined)) return
  const msg = 'Value error, give either user or token_id'
  throw new Invalid([{ loc: ['body', 'user'], msg, type: 'value_error' }])
}

async function subjectIn(
  { pool }: Deps,
  deployment_id: string,
  { user, token_id = '' }: EraseInput,
): Promise<Erased> {
  if (user === undefined) return { deployment_id, subject: '', token_id }
  const subjectOf = subjectsOf(await readPositionKey(pool))
  return { deployment_id, subject: subjectOf(deployment_id, user), token_id: '' }
}
