import { isDeepStrictEqual } from 'node:util'
import { jobSpec } from '../../../../schemas/jobs/jobspec.ts'
import { isRecord } from '../../program/is-record.ts'
import type { SpecTree } from './job-spec.ts'

type Schema = { default?: unknown; properties?: Record<string, Schema> }

/** A JobSpec without the values that it would have anyway, its keys in the usual order. Items of lists stay whole. */
export const withoutDefaults = (spec: SpecTree): SpecTree => pruned(spec, jobSpec as Schema)

const pruned = (tree: SpecTree, { properties = {} }: Schema): SpecTree => {
  const usual = Object.keys(properties).filter(key => Object.hasOwn(tree, key))
  const keys = new Set([...usual, ...Object.keys(tree)])
  return Object.fromEntries(
    [...keys].flatMap(key => {
      const [schema, value] = [properties[key], tree[key]]
      const kept = schema?.properties && isRecord(value) ? pruned(value, schema) : value
      return isDefault(kept, schema) ? [] : [[key, kept]]
    }),
  )
}

/** A section with nothing left is dropped. */
const isDefault = (value: unknown, schema: Schema | undefined): boolean =>
  schema !== undefined && 'default' in schema && isDeepStrictEqual(value, schema.default)
