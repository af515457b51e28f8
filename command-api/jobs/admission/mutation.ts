import { isDeepStrictEqual } from 'node:util'
import { cloneLabel, type JobSpec, jobSpec, retryLabel } from '../../../schemas/jobs/jobspec.ts'
import { mergePatch } from '../../../schemas/merge-patch.ts'
import { checker } from '../../../schemas/validate.ts'
import { mask } from '../../rules/secrets.ts'
import { withoutSecrets } from './warnings.ts'

/** A place in the JobSpec whose value a plugin changed; null: it had none, or has none now. */
export type SpecChange = { path: string; from: unknown; to: unknown }

export type Mutation =
  | { ok: true; spec: JobSpec; changes: SpecChange[] }
  | { ok: false; error: string }

const maxChanges = 50
/** Longer values are left out of what people see, in bytes as JSON. */
const maxValueBytes = 2000

const check = checker(jobSpec, 'body')

/** What a plugin may not change: whose job it is, where it counts, its recipe, and what its person alone grants it. */
const fixed: readonly [string, (spec: JobSpec) => unknown][] = [
  ['api', ({ api }) => api],
  ['kind', ({ kind }) => kind],
  ['lock', ({ lock }) => lock],
  ['metadata.project', ({ metadata }) => metadata.project],
  ['metadata.team', ({ metadata }) => metadata.team],
  [`metadata.labels.${retryLabel}`, ({ metadata }) => metadata.labels[retryLabel]],
  [`metadata.labels.${cloneLabel}`, ({ metadata }) => metadata.labels[cloneLabel]],
  ['spec.secrets', ({ spec }) => spec.secrets],
  ['spec.approval', ({ spec }) => spec.approval],
]

/** The spec after a plugin's patch, with the differences that people see. Secrets of `env` are in neither. */
export function mutated(before: JobSpec, patch: Record<string, unknown>): Mutation {
  const merged = mergePatch(before, withoutMasked(patch))
  const checked = check(structuredClone(merged))
  if (!checked.ok) {
    const [fault] = checked.errors
    return refused(`its patch leaves no JobSpec: ${fault?.loc.slice(1).join('.')}: ${fault?.msg}`)
  }
  const spec = checked.value
  const touched = fixed.find(([, of]) => !isDeepStrictEqual(of(before), of(spec)))
  if (touched) return refused(`its patch changes ${touched[0]}, which no plugin may change`)
  const changes = changesBetween(before, spec)
  if (changes.length > maxChanges)
    return refused(`its patch changes ${changes.length} places; ${maxChanges} are allowed`)
  return { ok: true, spec, changes }
}

const refused = (error: string): Mutation => ({ ok: false, error })

/** A plugin may send back masked values; they keep their secrets. */
function withoutMasked(patch: Record<string, unknown>): Record<string, unknown> {
  const { spec } = patch
  if (!isTree(spec) || !isTree(spec.env)) return patch
  const known = Object.entries(spec.env).filter(([, value]) => value !== mask)
  return { ...patch, spec: { ...spec, env: Object.fromEntries(known) } }
}

function changesBetween(before: JobSpec, after: JobSpec): SpecChange[] {
  const [from, to] = [valuesOf(before), valuesOf(after)]
  const [shownFrom, shownTo] = [valuesOf(withoutSecrets(before)), valuesOf(withoutSecrets(after))]
  return [...new Set([...from.keys(), ...to.keys()])]
    .filter(path => !isDeepStrictEqual(from.get(path), to.get(path)))
    .sort()
    .map(path => ({ path, from: shown(shownFrom.get(path)), to: shown(shownTo.get(path)) }))
}

function shown(value: unknown): unknown {
  if (value === undefined) return null
  const bytes = Buffer.byteLength(JSON.stringify(value))
  return bytes > maxValueBytes ? `(${bytes} bytes)` : value
}

const isTree = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Values by their dotted paths; a list is one value. */
function valuesOf(tree: Record<string, unknown>, above = ''): Map<string, unknown> {
  return new Map(
    Object.entries(tree).flatMap(([key, value]) => {
      const one: [string, unknown] = [above + key, value]
      return isTree(value) ? [...valuesOf(value, `${above}${key}.`)] : [one]
    }),
  )
}
