import type { Person } from '../../auth/caller.ts'
import { reflowAt } from '../../events/reflows.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  type ReflowInput,
  type ReflowSource,
  reflowLimits,
  scrubKinds,
} from '../../schemas/reflows.ts'
import type { ValidationError } from '../../schemas/shared.ts'
import { Invalid } from '../../schemas/validate.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { create, fresh } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { refuseUnlessWriter } from '../rules/dataset-access.ts'
import { roleOf } from '../rules/enabled-person.ts'
import { resolveRubric } from '../rules/rubric-reference.ts'
import { runToActOn } from '../rules/run-to-act-on.ts'
import { createReflow } from './decide.ts'
import { filterFault } from './filter.ts'
import type { ReflowSources } from './port.ts'
import { countReflows, saveReflow } from './rows.ts'

type Request = HttpAsked & { caller: Person; body: ReflowInput }

export async function createReflowOf(deps: Deps, sources: ReflowSources, request: Request) {
  const { caller, body } = request
  const { name, filter = '', dedupe = 'exact', sample_rate = 1, take = 'new' } = body
  const { scrub = scrubKinds, rubric = null, target_dataset } = body
  await refuseOthersDataset(deps, target_dataset, caller)
  refuseFaults(body)
  const source = await readable(deps, sources, { source: body.source, caller })
  await refuseRubric(deps, rubric, caller)
  const owner = caller.username
  const reflow_id = deps.newId('rfl')
  const target = fresh(reflowAt(reflow_id))
  return create(deps, request, target, {
    locks: [`reflows of ${owner}`],
    async make(work) {
      if ((await countReflows(work.tx, owner)) >= reflowLimits.ofPerson)
        throw new Refusal('conflict', `You have ${reflowLimits.ofPerson} reflows, the maximum`, {
          code: 'reflow.too_many',
        })
      await work.decide(target, {
        decide: reflow =>
          createReflow(reflow, {
            ...{ reflow_id, owner, name, source, filter, dedupe, sample_rate, rubric, take },
            ...{ scrub: scrubKinds.filter(kind => scrub.includes(kind)), target_dataset },
          }),
        alongside: saveReflow,
      })
      return { reflow_id, name, target_dataset }
    },
  })
}

const fieldOf = { traffic: 'deployment_id', samples: 'run_id', annotations: 'queue_id' } as const

function refuseFaults({ source, filter = '' }: ReflowInput): void {
  const needed = fieldOf[source.type]
  const own: readonly string[] = [needed, ...(source.type === 'samples' ? ['step'] : [])]
  const faults: ValidationError[] = Object.entries(source).flatMap(([field, value]) =>
    field === 'type' || own.includes(field) || value === null
      ? []
      : [fault(['source', field], value, `a source of the type ${source.type} has no ${field}`)],
  )
  if (source[needed] === undefined)
    faults.push({ loc: ['body', 'source', needed], msg: 'Field required', type: 'missing' })
  const ofFilter = filterFault(source.type, filter)
  if (ofFilter) faults.push(ofFilter)
  if (faults.length > 0) throw new Invalid(faults)
}

/** Everybody writes their own datasets, which need not exist yet, and administrators those of others. */
async function refuseOthersDataset({ pool }: Deps, dataset: string, caller: Person): Promise<void> {
  const [owner = '', name = ''] = dataset.split('/')
  if (owner === caller.username) return
  if (caller.role !== 'admin') await refuseUnlessWriter(pool, { owner, name }, caller)
  else if ((await roleOf(pool, owner)) === null)
    throw new Refusal('not_found', `No such user: ${owner}`)
}

async function readable(
  deps: Deps,
  sources: ReflowSources,
  { source, caller }: { source: ReflowInput['source']; caller: Person },
): Promise<ReflowSource> {
  const { type, step = null } = source
  const none = { deployment_id: null, run_id: null, step: null, queue_id: null }
  switch (type) {
    case 'traffic': {
      const asked = source.deployment_id ?? ''
      return { ...none, type, deployment_id: await sources.deploymentOf(deps, caller, asked) }
    }
    case 'samples': {
      const { run_id } = await runToActOn(deps.pool, {
        ...{ asked: source.run_id ?? '', caller, action: 'read', noun: 'run' },
      })
      return { ...none, type, run_id, step }
    }
    case 'annotations': {
      const queue_id = source.queue_id ?? ''
      await sources.answersOf(deps, caller, queue_id)
      return { ...none, type, queue_id }
    }
  }
}

async function refuseRubric(
  { store }: Deps,
  rubric: ReflowInput['rubric'] | null,
  caller: Person,
): Promise<void> {
  if (!rubric) return
  const found = await resolveRubric(store, rubric.ref, caller)
  if (found.is === 'found') return
  const why =
    found.is === 'missing'
      ? `no such rubric: ${rubric.ref}`
      : `the rubric is at version ${found.version}`
  throw new Invalid([fault(['rubric', 'ref'], rubric.ref, why)])
}

const fault = (field: readonly string[], input: unknown, msg: string): ValidationError => ({
  ...{ loc: ['body', ...field], msg: `Value error, ${msg}`, type: 'value_error', input },
})
