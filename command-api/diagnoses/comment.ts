import type { DecisionEvent } from '../../events/all.ts'
import { type DiagnosisCompleted, diagnosesOf } from '../../events/diagnoses.ts'
import type { Recorded } from '../../events/event.ts'
import { analyzeAnswer } from '../../schemas/plugins.ts'
import { checker } from '../../schemas/validate.ts'
import type { Deps } from '../deps.ts'
import { decided, type Outcome } from '../effects/outcome.ts'
import { type Duty, reactor } from '../effects/reactor.ts'
import type { CalledPlugin } from '../rules/plugin-calls.ts'
import { commentDiagnosis } from './decide.ts'

type Named = Pick<DiagnosisCompleted, 'run_id' | 'diagnosis_id'>

const commentsOf = ({ type, data }: Recorded<DecisionEvent>): Duty<Named>[] =>
  type === 'diagnosis.completed' && data.verdict !== null
    ? [{ payload: { run_id: data.run_id, diagnosis_id: data.diagnosis_id } }]
    : []

const hook = 'diagnosis.analyze'
const expected = { check: checker(analyzeAnswer, 'body') }

/** Lets plugins comment on results. Their words are shown as theirs, and nothing acts on them. */
export const diagnosisCommenter = reactor<Named, Pick<Deps, 'store' | 'plugins'>>({
  name: 'comment-diagnoses',
  repeat: 'by key',
  attempts: 3,
  dutiesOf: commentsOf,
  async perform({ payload, duty_id }, deps, signal): Promise<Outcome> {
    const asked = await deps.plugins.serving(hook)
    if (asked.length === 0) return []
    const { events } = await deps.store.load(diagnosesOf(payload.run_id).stream)
    const completed = events.find(
      (one): one is (typeof events)[number] & { data: DiagnosisCompleted } =>
        one.type === 'diagnosis.completed' && isOf(one.data, payload),
    )
    if (!completed) return []
    const all = asked.map(plugin =>
      commentOf(deps, plugin, { of: completed.data, duty_id, signal }),
    )
    return (await Promise.all(all)).flat()
  },
})

const isOf = (data: unknown, { diagnosis_id }: Named): boolean =>
  (data as Named).diagnosis_id === diagnosis_id

type About = { of: DiagnosisCompleted; duty_id: string; signal: AbortSignal }

/** Without a usable answer there is no comment; the diagnosis is complete without one. */
async function commentOf(
  { plugins }: Pick<Deps, 'plugins'>,
  plugin: CalledPlugin,
  { of, duty_id, signal }: About,
): Promise<Outcome> {
  const { diagnosis_id, run_id, short_id, project, owner, attempt, verdict } = of
  const subject = { run_id, short_id, project, owner }
  const data = { diagnosis_id, ...subject, attempt, ...verdict }
  const id = `${duty_id}-${plugin.name}`
  const called = await plugins.call(plugin, { hook, subject: short_id, data, id, signal }, expected)
  signal.throwIfAborted()
  if (!called.ok || called.answer.words === null) return []
  const { words, model = null } = called.answer
  const comment = { diagnosis_id, ...subject, plugin: plugin.name, model, words }
  return [decided(diagnosesOf(run_id), { decide: state => commentDiagnosis(state, comment) })]
}
