import type { GateResult } from '../../../schemas/jobs/jobs.ts'
import type { JobSpec } from '../../../schemas/jobs/jobspec.ts'
import { allowAnswer, mutateAnswer } from '../../../schemas/plugins.ts'
import { checker } from '../../../schemas/validate.ts'
import type { Called, CalledPlugin, PluginCalls } from '../../rules/plugin-calls.ts'
import type { AdmissionFacts } from './facts.ts'
import { mutated, type SpecChange } from './mutation.ts'
import { withoutSecrets } from './warnings.ts'

/** `isTrial`: nothing will be submitted. */
export type AskingPlugins = {
  plugins: PluginCalls
  caller: { username: string; role: string }
  isTrial: boolean
}

/** The spec after the changes of all plugins, and what each did, as results of gates. */
export type Mutated = { spec: JobSpec; results: GateResult[]; changedBy: ChangedBy[] }
export type ChangedBy = { plugin: string; changes: SpecChange[] }

const mutating = { check: checker(mutateAnswer, 'body') }
const validating = {
  check: checker(allowAnswer, 'body'),
  refuses: ({ allow }: { allow: boolean }) => !allow,
}

/** Asks one after the other, each about the spec that the one before left. */
export async function mutate(
  asking: AskingPlugins,
  plugins: readonly CalledPlugin[],
  { spec: submitted }: Pick<AdmissionFacts, 'spec'>,
): Promise<Mutated> {
  const all: Mutated = { spec: submitted, results: [], changedBy: [] }
  for (const plugin of plugins) {
    const hook = 'admission.mutate' as const
    const data = dataFor(asking, all.spec)
    const called = await asking.plugins.call(
      plugin,
      { hook, subject: subjectOf(all.spec), data },
      mutating,
    )
    if (!called.ok) {
      all.results.push(withoutAnswer(plugin, hook, called))
      continue
    }
    const { patch, reason = null } = called.answer
    const outcome = mutated(all.spec, patch ?? {})
    if (!outcome.ok) {
      all.results.push(withoutAnswer(plugin, hook, { error: outcome.error }))
      continue
    }
    const { changes } = outcome
    all.spec = outcome.spec
    if (changes.length > 0) all.changedBy.push({ plugin: plugin.name, changes })
    all.results.push({
      gate: gateOf(plugin),
      ok: true,
      detail: withReason(
        changes.length === 0 ? 'changed nothing' : `changed ${pathsIn(changes)}`,
        reason,
      ),
      data: { hook, changes },
    })
  }
  return all
}

/** Asks all at once, because none changes anything. */
export const validate = (
  asking: AskingPlugins,
  plugins: readonly CalledPlugin[],
  { spec }: Pick<AdmissionFacts, 'spec'>,
): Promise<GateResult[]> =>
  Promise.all(
    plugins.map(async plugin => {
      const hook = 'admission.validate' as const
      const data = dataFor(asking, spec)
      const called = await asking.plugins.call(
        plugin,
        { hook, subject: subjectOf(spec), data },
        validating,
      )
      if (!called.ok) return withoutAnswer(plugin, hook, called)
      const { allow, reason = null } = called.answer
      const gate = gateOf(plugin)
      if (allow) return { gate, ok: true, detail: withReason('allows it', reason), data: { hook } }
      return {
        gate,
        ok: false,
        code: 'plugin.refused',
        detail: withReason(`The plugin ${plugin.name} refuses the job`, reason),
        data: { hook },
      }
    }),
  )

/** Values of `env` that look like secrets leave the installation no more than they enter its log. */
const dataFor = ({ caller: { username, role }, isTrial }: AskingPlugins, spec: JobSpec) => ({
  submitter: { username, role },
  project: spec.metadata.project,
  dry_run: isTrial,
  spec: withoutSecrets(spec),
})

const subjectOf = ({ metadata: { project, name } }: JobSpec) => `${project}/${name}`

const gateOf = ({ name }: CalledPlugin): GateResult['gate'] => `plugin:${name}`

const withReason = (text: string, reason: string | null) =>
  reason === null || reason === '' ? text : `${text}: ${reason}`

export const pathsIn = (changes: readonly SpecChange[]): string => {
  const [first, second, third, ...more] = changes.map(({ path }) => path)
  const named = [first, second, third].filter(path => path !== undefined).join(', ')
  return more.length === 0 ? named : `${named} and ${more.length} more`
}

/** Its mode decides; the error says what happened. */
function withoutAnswer(
  plugin: CalledPlugin,
  hook: string,
  { error }: Pick<Extract<Called<unknown>, { ok: false }>, 'error'>,
): GateResult {
  const gate = gateOf(plugin)
  const data = { hook, mode: plugin.mode, error }
  if (plugin.mode === 'fail_open')
    return { gate, ok: true, detail: `gave no usable answer (${error}); the job goes on`, data }
  return {
    gate,
    ok: false,
    code: 'plugin.failed',
    detail: `The plugin ${plugin.name} gave no usable answer: ${error}`,
    data,
    hint: 'Try again later, or ask an administrator',
  }
}
