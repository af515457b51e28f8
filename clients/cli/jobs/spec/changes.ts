import { isDeepStrictEqual } from 'node:util'
import { jobSpec } from '../../../../schemas/jobs/jobspec.ts'
import { isRecord } from '../../program/is-record.ts'
import { withoutDefaults } from './defaults.ts'
import type { SpecTree } from './job-spec.ts'

/** `undefined`: the spec does not have it, and there is no default. */
export type SpecChange = { path: string; from: unknown; to: unknown }

/** The differences between two JobSpecs. An omitted value counts as its default. */
export function changesBetween(from: SpecTree, to: SpecTree): SpecChange[] {
  const [before, after] = [valuesOf(withoutDefaults(from)), valuesOf(withoutDefaults(to))]
  return [...new Set([...before.keys(), ...after.keys()])]
    .sort()
    .map(path => ({
      path,
      from: before.has(path) ? before.get(path) : defaultAt(path),
      to: after.has(path) ? after.get(path) : defaultAt(path),
    }))
    .filter(({ from, to }) => from !== mask && !isDeepStrictEqual(from, to))
    .map(change => (change.path.startsWith('spec.env.') ? withoutValues(change) : change))
}

/** Stands for a secret; nobody knows whether it changed. */
const mask = '***'

/** Values of `env` may be secret: report that one changed, but not its value. */
const withoutValues = ({ path, from, to }: SpecChange): SpecChange => ({
  path,
  from: from === undefined ? from : mask,
  to: to === undefined ? to : mask,
})

/** Values by their dotted paths; a list is one value. */
function valuesOf(tree: SpecTree, above = ''): Map<string, unknown> {
  return new Map(
    Object.entries(tree).flatMap(([key, value]) => {
      const path = above + key
      const one: [string, unknown] = [path, value]
      return isRecord(value) ? [...valuesOf(value, `${path}.`)] : [one]
    }),
  )
}

type Schema = { default?: unknown; properties?: Record<string, Schema> }

function defaultAt(path: string): unknown {
  let schema: Schema | undefined = jobSpec as Schema
  for (const key of path.split('.')) schema = schema?.properties?.[key]
  return schema?.default
}
