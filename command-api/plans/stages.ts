import type { JobSpec } from '../../schemas/jobs/jobspec.ts'
import {
  type PlanInput,
  type PlannedStage,
  planLimits,
  type StageInput,
  type SweepInput,
  type SweepParam,
} from '../../schemas/plans.ts'
import type { ValidationError } from '../../schemas/shared.ts'
import { Invalid } from '../../schemas/validate.ts'
import { isSecret } from '../rules/secrets.ts'
import { assignmentsOf, countRuns } from './sweep.ts'

type Place = readonly (string | number)[]
type Fault = (place: Place, input: unknown, why: string) => ValidationError

const fault: Fault = (place, input, why) => ({
  ...{ loc: ['body', ...place], msg: `Value error, ${why}`, type: 'value_error' },
  input: input ?? null,
})

const alone = { sweep: null, deploy: null, init_from_stage: null }

/** An event holds all of them. */
const maxAssignedBytes = 200_000

/** The stages of a plan as recorded; 422 with every fault. */
export function stagesOf({ spec, stages }: PlanInput): [PlannedStage, ...PlannedStage[]] {
  if ((spec === undefined) === (stages === undefined))
    throw new Invalid([fault(['stages'], null, 'give either spec or stages')])
  const given: (StageInput & { at: Place })[] = spec
    ? [{ ...{ name: 'job', spec, load: 'weights', at: [] }, ...alone }]
    : (stages ?? []).map((stage, nth) => ({ ...stage, at: ['stages', nth] }))
  const faults = given.flatMap((stage, nth) => faultsOf(stage, given.slice(0, nth), given))
  if (faults.length > 0) throw new Invalid(faults.slice(0, 50))
  const [first, ...others] = given.map(plannedOf)
  if (!first) throw new Error('a plan has a stage')
  return [first, ...others]
}

const kindOf = ({ sweep, deploy }: StageInput): PlannedStage['kind'] => {
  if (deploy) return 'deploy'
  return sweep ? 'sweep' : 'job'
}

const plannedOf = (stage: StageInput): PlannedStage => ({
  name: stage.name,
  kind: kindOf(stage),
  spec: stage.spec ?? null,
  sweep: stage.sweep,
  deploy: stage.deploy,
  init_from_stage: stage.init_from_stage,
  load: stage.load,
})

type Given = StageInput & { at: Place }

function faultsOf(stage: Given, earlier: readonly Given[], all: readonly Given[]) {
  const { at, name, spec, deploy, sweep } = stage
  const faults: ValidationError[] = []
  if (earlier.some(one => one.name === name))
    faults.push(fault([...at, 'name'], name, 'another stage has this name'))
  if ((spec === undefined) === !deploy)
    faults.push(fault([...at, 'spec'], null, 'a stage has either spec or deploy'))
  if (deploy) faults.push(...faultsOfDeploy(stage, earlier, all))
  if (sweep && spec) faults.push(...faultsOfSweep(sweep, [...at, 'sweep']))
  else if (sweep) faults.push(fault([...at, 'sweep'], null, 'only a stage with a spec is a sweep'))
  if (spec) faults.push(...faultsOfSpec(spec, stage, all))
  faults.push(...faultsOfInit(stage, earlier))
  return faults
}

function faultsOfDeploy(
  { at, name, init_from_stage }: Given,
  earlier: readonly Given[],
  all: readonly Given[],
): ValidationError[] {
  const before = earlier.at(-1)
  const deploy = [...at, 'deploy']
  if (all.at(-1)?.name !== name) return [fault(deploy, null, 'only the last stage may deploy')]
  if (!before) return [fault(deploy, null, 'no stage before it trains what it would serve')]
  if (init_from_stage) return []
  return before.sweep && !before.sweep.metric
    ? [fault(deploy, null, `the sweep ${before.name} needs a metric, which decides what is served`)]
    : []
}

function faultsOfSpec(
  { metadata, spec }: JobSpec,
  { at, init_from_stage }: Given,
  all: readonly Given[],
): ValidationError[] {
  const place = [...at, 'spec']
  const faults: ValidationError[] = []
  const project = all.find(one => one.spec)?.spec?.metadata.project
  if (metadata.project !== project)
    faults.push(
      fault(
        [...place, 'metadata', 'project'],
        metadata.project,
        `all stages are in one project, here ${project}`,
      ),
    )
  if (init_from_stage && spec.init_from)
    faults.push(
      fault([...place, 'spec', 'init_from'], null, 'it starts from init_from_stage already'),
    )
  for (const [name, value] of Object.entries(spec.env))
    if (isSecret(name, value))
      faults.push(
        fault(
          [...place, 'spec', 'env', name],
          null,
          'it looks like a secret, and others read a plan; store it as a secret and name it in spec.secrets',
        ),
      )
  return faults
}

function faultsOfInit({ at, init_from_stage }: Given, earlier: readonly Given[]) {
  if (!init_from_stage) return []
  const place = [...at, 'init_from_stage']
  const from = earlier.find(({ name }) => name === init_from_stage)
  if (!from?.spec)
    return [fault(place, init_from_stage, 'no earlier stage with a spec has this name')]
  return from.sweep && !from.sweep.metric
    ? [fault(place, init_from_stage, 'the sweep needs a metric, which decides its best run')]
    : []
}

const whyRefused = (
  { values, min, max, scale }: SweepParam,
  method: SweepInput['method'],
): string | null => {
  const isRange = min !== undefined || max !== undefined
  if (values) return isRange ? 'give either values or min and max' : null
  if (method === 'grid') return 'a grid needs values'
  if (min === undefined || max === undefined) return 'give values, or both min and max'
  if (min >= max) return 'min must be less than max'
  return scale === 'log' && min <= 0 ? 'a logarithmic range begins above 0' : null
}

function faultsOfSweep(sweep: SweepInput, at: Place): ValidationError[] {
  const faults = Object.entries(sweep.params).flatMap(([name, param]) => {
    const why = whyRefused(param, sweep.method)
    return why === null ? [] : [fault([...at, 'params', name], null, why)]
  })
  if (sweep.early_stop && !sweep.metric)
    faults.push(fault([...at, 'metric'], null, 'early_stop compares the runs by it'))
  if (sweep.method === 'random' && sweep.count === undefined)
    faults.push(fault([...at, 'count'], null, 'a random sweep needs the number of its runs'))
  if (faults.length > 0) return faults
  const runs = countRuns(sweep)
  if (runs > planLimits.runs)
    return [fault(at, null, `the sweep has ${runs} runs; at most ${planLimits.runs} are allowed`)]
  const bytes = Buffer.byteLength(JSON.stringify(assignmentsOf(sweep)))
  return bytes > maxAssignedBytes
    ? [
        fault(
          [...at, 'params'],
          null,
          `the parameters of all runs take ${bytes} bytes; at most ${maxAssignedBytes} are allowed`,
        ),
      ]
    : []
}
