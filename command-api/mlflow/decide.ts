import type { Hparams } from '../../events/hparams.ts'
import {
  inputKey,
  type MlflowEvent,
  type MlflowInput,
  type MlflowRun,
} from '../../events/mlflow.ts'
import { Refusal } from '../../platform/refusal.ts'
import { runNameTag } from '../../schemas/mlflow.ts'
import { cutByBytes, jsonBytesOf } from '../rules/cut-by-bytes.ts'

/** Limits of one run, over all requests. */
const maxTags = 2000
const maxTagBytes = 2 * 1024 * 1024
const maxInputs = 100

type Named = { key: string; value: string }

const invalid = (detail: string) =>
  new Refusal('invalid', detail, { fields: { error_code: 'INVALID_PARAMETER_VALUE' } })

/**
 * The new parameters, by MLflow's rule: a value is written once, and repeating it is harmless. Throws if a parameter already
 * has another value.
 */
export function newParams(
  hparams: Hparams,
  run_id: string,
  params: readonly Named[],
): Record<string, string> {
  const added = new Map<string, string>()
  for (const { key, value } of params) {
    const before = Object.hasOwn(hparams, key) ? String(hparams[key]) : added.get(key)
    if (before === undefined) added.set(key, value)
    else if (before !== value)
      throw invalid(
        `Changing param values is not allowed. Param with key='${key}' was already logged with value='${before}' for run ID='${run_id}'. Attempted logging new value '${value}'.`,
      )
  }
  return Object.fromEntries(added)
}

/** Idempotent: tags that have these values append no event. A name is stored as the run has it, without surrounding spaces. */
export function setTags(run: MlflowRun, run_id: string, tags: readonly Named[]): MlflowEvent[] {
  const wanted: Record<string, string> = Object.fromEntries(
    tags.map(({ key, value }) => [key, key === runNameTag ? value.trim() : value]),
  )
  const changed = Object.entries(wanted).filter(
    ([key, value]) => !Object.hasOwn(run.tags, key) || run.tags[key] !== value,
  )
  if (changed.length === 0) return []
  const after = { ...run.tags, ...wanted }
  const count = Object.keys(after).length
  if (count > maxTags)
    throw invalid(`The run would have ${count} tags; at most ${maxTags} are kept`)
  const bytes = jsonBytesOf(after)
  if (bytes > maxTagBytes)
    throw invalid(`The tags of the run would take ${bytes} bytes; at most ${maxTagBytes} are kept`)
  return cutByBytes(changed).map(part => ({
    type: 'mlflow.tags_set',
    data: { run_id, tags: Object.fromEntries(part) },
  }))
}

/** Idempotent, like tags of runs. */
export function tagExperiment(
  { tags }: MlflowRun,
  project: string,
  { key, value }: Named,
): MlflowEvent[] {
  if (Object.hasOwn(tags, key) && tags[key] === value) return []
  const after = { ...tags, [key]: value }
  if (Object.keys(after).length > maxTags || jsonBytesOf(after) > maxTagBytes)
    throw invalid(`The project has ${Object.keys(tags).length} tags; it can have no more`)
  return [{ type: 'mlflow.experiment_tagged', data: { project, key, value } }]
}

export function deleteTag(run: MlflowRun, run_id: string, key: string): MlflowEvent[] {
  if (!Object.hasOwn(run.tags, key))
    throw new Refusal('conflict', `No tag with name: ${key} in run with id ${run_id}`, {
      fields: { error_code: 'RESOURCE_DOES_NOT_EXIST' },
    })
  return [{ type: 'mlflow.tag_deleted', data: { run_id, key } }]
}

/** Idempotent: repeating a status appends no event. */
export const reportStatus = (
  run: MlflowRun,
  run_id: string,
  { status, end_time_ms }: { status: string; end_time_ms: number | null },
): MlflowEvent[] =>
  run.status === status && run.end_time_ms === end_time_ms
    ? []
    : [{ type: 'mlflow.status_reported', data: { run_id, status, end_time_ms } }]

/** Idempotent: repeating a data set appends no event. */
export function logInputs(
  run: MlflowRun,
  run_id: string,
  inputs: readonly MlflowInput[],
): MlflowEvent[] {
  const known = new Set(run.inputs)
  const added = [...new Map(inputs.map(input => [inputKey(input), input])).values()].filter(
    input => !known.has(inputKey(input)),
  )
  const count = known.size + added.length
  if (count > maxInputs)
    throw invalid(`The run would have ${count} data sets; at most ${maxInputs} are kept`)
  return cutByBytes(added).map(part => ({
    type: 'mlflow.inputs_logged',
    data: { run_id, inputs: part },
  }))
}
