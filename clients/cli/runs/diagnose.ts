import type { Diagnosis } from '../../../schemas/diagnoses.ts'
import { mergePatch } from '../../../schemas/merge-patch.ts'
import { segment } from '../api/client.ts'
import type { Admission } from '../api/records.ts'
import { changesBetween } from '../jobs/spec/changes.ts'
import { variable } from '../jobs/spec/given.ts'
import { type SpecTree, setAt } from '../jobs/spec/job-spec.ts'
import { describe, oneRun, repeated } from '../program/describe.ts'
import { type ExitCode, exitCode, Failure, usageFailure } from '../program/failure.ts'
import { pause } from '../program/pause.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type World,
} from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'

type DiagnoseOptions = CommonOptions & Flags<'again'> & { applyFix?: string | true; env: string[] }

export const describeDiagnose = describe({
  text: 'say why a run failed or makes no progress, with evidence and remedies',
  operands: oneRun,
  options: {
    '--again': 'diagnose again even if there is a diagnosis',
    '--apply-fix [number]': 'submit the job again with a suggested change, by default the first',
    '--env <name=value>': repeated('with --apply-fix: a secret of the old job, which is masked'),
  },
  after: `
Rules decide, no model: they read the log, the metrics and how the process ended.

Examples:
  forge diagnose demo-12
  forge diagnose demo-12 --apply-fix`,
})

export async function diagnose(
  world: World,
  id: string,
  options: DiagnoseOptions,
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const found = await findDiagnosis(session, id, options.again === true)
  if (options.applyFix === undefined) {
    show(session, found)
    return exitCode.ok
  }
  if (!session.isJson) show(session, found)
  await applyFix(session, found, options)
  return exitCode.ok
}

/** The newest diagnosis if it is still valid, otherwise a new one. */
async function findDiagnosis({ api }: Session, id: string, again: boolean): Promise<Diagnosis> {
  const run = await api.get<{ run_id: string; ended_at: string | null }>(`/api/runs/${segment(id)}`)
  const path = `/api/runs/${segment(run.run_id)}/diagnoses`
  const [newest] = await api.get<Diagnosis[]>(path, { limit: 1 })
  if (newest && !again && holds(newest, run.ended_at)) return newest
  const body = { job_id: run.run_id }
  const asked = await api.post<{ diagnosis_id: number }>('/api/job/diagnose', body)
  return finished(api, asked.diagnosis_id)
}

/** Whether the run has changed nothing since. */
const holds = ({ status, created_at }: Diagnosis, ended_at: string | null): boolean =>
  status === 'succeeded' && ended_at !== null && created_at >= ended_at

const lookMs = 250
const patienceMs = 60_000

/** If somebody else has just requested the same diagnosis, reads need not have it yet. */
async function finished({ find }: Session['api'], diagnosis_id: number): Promise<Diagnosis> {
  const lastLook = performance.now() + patienceMs
  for (;;) {
    const found = await find<Diagnosis>(`/api/diagnoses/${diagnosis_id}`)
    if (found?.status === 'failed')
      throw new Failure(exitCode.unavailable, `Diagnosis ${diagnosis_id} failed: ${found.error}`)
    if (found?.status === 'succeeded' || found?.status === 'superseded') return found
    if (performance.now() > lastLook)
      throw new Failure(
        exitCode.unavailable,
        `Diagnosis ${diagnosis_id} is still pending after ${patienceMs / 1000} s; ask again later`,
      )
    await pause(lookMs)
  }
}

function show({ terminal, isJson }: Session, found: Diagnosis): void {
  if (isJson) {
    terminal.data(toJson(found))
    return
  }
  const { paint } = terminal
  const { title, category, root_cause } = found
  terminal.data(paint('bold', title ?? 'no result'))
  if (category !== 'unknown') terminal.data(`  ${classLine(found)}`)
  if (root_cause) terminal.data(`  ${root_cause}`)
  for (const piece of found.evidence ?? []) {
    terminal.data(`  ${paint('dim', evidenceSource(piece))}`)
    for (const line of piece.excerpt.split('\n')) terminal.data(`    ${line}`)
  }
  const { count_30d, run_ids } = found.similar
  if (count_30d > 0)
    terminal.data(
      `  ${count_30d} other runs of the last 30 days look similar: ${run_ids.join(', ')}`,
    )
  for (const line of found.comments.flatMap(commentLines)) terminal.data(`  ${line}`)
  for (const [index, line] of suggestionLines(found).entries())
    terminal.data(`  ${index + 1}. ${line}`)
}

/** Marked as the words of a plugin. */
const commentLines = ({ plugin, model, words }: Diagnosis['comments'][number]): string[] => [
  `The plugin ${plugin} says${model === null ? '' : `, by the language model ${model}`}:`,
  ...words.split('\n').map(line => `  ${line}`),
]

function classLine({ category, subcategory, blame, confidence }: Diagnosis): string {
  const kind = [category, subcategory].filter(word => word !== null).join(', ')
  return `${kind}; blame: ${blame}; confidence ${Math.round((confidence ?? 0) * 100)} %`
}

function evidenceSource({ kind, ref }: NonNullable<Diagnosis['evidence']>[number]): string {
  if ('offset' in ref) {
    const rank = ref.rank === null ? '' : `, rank ${ref.rank}`
    return `log line ${ref.offset}${rank}`
  }
  if ('key' in ref) return `metric ${ref.key} at step ${ref.step}`
  if ('ts' in ref) return `hardware${ref.index === null ? '' : `, GPU ${ref.index}`}, ${ref.ts}`
  return kind === 'exit' ? 'end of the attempt' : kind
}

const suggestionLines = ({ suggestions }: Diagnosis): string[] =>
  (suggestions ?? []).map(({ title, patch, risk }) =>
    patch === null ? title : `${title} (--apply-fix; risk: ${risk})`,
  )

async function applyFix(
  { api, terminal, isJson }: Session,
  found: Diagnosis,
  { applyFix: chosen, env }: DiagnoseOptions,
): Promise<void> {
  const patch = patchOf(found, chosen)
  const old = await api.post<SpecTree>(`/api/jobs/${segment(found.run_id)}/clone`, {})
  const fixed = mergePatch(old, patch) as SpecTree
  for (const [name, value] of env.map(variable)) setAt(fixed, `spec.env.${name}`, value)
  refuseMasked(fixed)
  for (const { path, from, to } of changesBetween(old, fixed))
    terminal.note(`  ${path}: ${JSON.stringify(from)} → ${JSON.stringify(to)}`)
  const admitted = await api.post<Admission>('/api/jobs', fixed, { creates: true })
  if (!isJson) terminal.note(`${admitted.short_id} is ${found.run_id} with this change`)
  terminal.data(isJson ? toJson({ diagnosis: found, admitted }) : admitted.run_id)
}

/** `chosen` counts the suggestions in the order shown, from 1. */
function patchOf({ suggestions }: Diagnosis, chosen: string | true | undefined) {
  const all = suggestions ?? []
  const one =
    typeof chosen === 'string' ? all[Number(chosen) - 1] : all.find(({ patch }) => patch !== null)
  if (one?.patch) return one.patch
  throw usageFailure(
    typeof chosen === 'string'
      ? `--apply-fix ${chosen}: no suggestion with this number changes the JobSpec`
      : 'No suggestion changes the JobSpec: a person has to act',
  )
}

/** Values of secrets are not kept and must be given again. */
function refuseMasked({ spec }: SpecTree): void {
  const { env = {} } = spec as { env?: Record<string, string> }
  const masked = Object.keys(env).filter(name => env[name] === '***')
  if (masked.length > 0)
    throw usageFailure(
      `The values of ${masked.join(', ')} were not kept; give ${masked.map(name => `--env ${name}=…`).join(' ')}`,
    )
}
