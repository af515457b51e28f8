import type { GateResult } from '../../../schemas/jobs/jobs.ts'
import type { JobSpec } from '../../../schemas/jobs/jobspec.ts'
import type { CalledPlugin, PluginCalls } from '../../rules/plugin-calls.ts'
import type { AdmissionFacts } from './facts.ts'
import { askAll, passAll, type Reword, refuseRefused } from './gates.ts'
import { type AskingPlugins, type ChangedBy, mutate, pathsIn, validate } from './plugins.ts'

export type Passing = {
  /** Null for jobs of the control plane itself, which no plugin sees. */
  plugins: PluginCalls | null
  caller: { username: string; role: string }
  load(spec: JobSpec): Promise<AdmissionFacts>
  /** Refuses what no plugin should learn of. */
  refuse(facts: AdmissionFacts): void
}

type Passed = { facts: AdmissionFacts; gates: GateResult[] }

/** The job as it passed all gates and plugins. Throws the first refusal. */
export async function passEverything(spec: JobSpec, passing: Passing): Promise<Passed> {
  const [first, asked] = await Promise.all([passing.load(spec), asking(passing, false)])
  if (asked === null) {
    const gates = passAll(first)
    passing.refuse(first)
    return { facts: first, gates }
  }
  passing.refuse(first)
  const { mutators, validators, ...rest } = asked
  const changed = await mutate(rest, mutators, { spec })
  refuseRefused(changed.results)
  const facts = changed.changedBy.length === 0 ? first : await passing.load(changed.spec)
  const gates = passAll(facts, blaming(first, changed.changedBy))
  const validated = await validate(rest, validators, facts)
  refuseRefused(validated)
  return { facts, gates: [...gates, ...changed.results, ...validated] }
}

/** The results of all gates and plugins, including refusals. */
export async function tryEverything(spec: JobSpec, passing: Passing): Promise<Passed> {
  const [first, asked] = await Promise.all([passing.load(spec), asking(passing, true)])
  passing.refuse(first)
  if (asked === null) return { facts: first, gates: askAll(first) }
  const { mutators, validators, ...rest } = asked
  const changed = await mutate(rest, mutators, { spec })
  const facts = changed.changedBy.length === 0 ? first : await passing.load(changed.spec)
  const gates = askAll(facts, blaming(first, changed.changedBy))
  const validated = await validate(rest, validators, facts)
  return { facts, gates: [...gates, ...changed.results, ...validated] }
}

type Asked = AskingPlugins & { mutators: CalledPlugin[]; validators: CalledPlugin[] }

/** Null if there is nobody to ask. */
async function asking({ plugins, caller }: Passing, isTrial: boolean): Promise<Asked | null> {
  if (plugins === null) return null
  const all = await plugins.serving('admission.mutate', 'admission.validate')
  if (all.length === 0) return null
  return {
    ...{ plugins, caller, isTrial },
    mutators: all.filter(({ hooks }) => hooks.includes('admission.mutate')),
    validators: all.filter(({ hooks }) => hooks.includes('admission.validate')),
  }
}

/** Names the plugins whose changes a gate refuses, unless it refuses what the person sent for the same reason. */
function blaming(first: AdmissionFacts, changedBy: readonly ChangedBy[]): Reword {
  if (changedBy.length === 0) return (_, refused) => refused
  const before = new Map(askAll(first).map(result => [result.gate, result]))
  return (gate, refused) => {
    const own = before.get(gate)
    if (own?.ok === false && own.detail === refused.detail) return refused
    const told = changedBy.map(
      ({ plugin, changes }) => `plugin ${plugin} changed ${pathsIn(changes)}`,
    )
    return {
      ...refused,
      detail: `${refused.detail} (after ${told.join('; ')})`,
      data: { ...refused.data, plugins: changedBy.map(({ plugin }) => plugin) },
    }
  }
}
