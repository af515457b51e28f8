import { parse } from 'yaml'
import { jobSpec } from '../../../../schemas/jobs/jobspec.ts'
import type { Api } from '../../api/client.ts'
import { segment } from '../../api/client.ts'
import { usageFailure } from '../../program/failure.ts'
import type { SpecTree } from './job-spec.ts'
import type { Recipe } from './parameters.ts'

/** Splits `key=value` of an option. */
export function assignment(text: string, flag: string): [path: string, value: string] {
  const at = text.indexOf('=')
  if (at < 1) throw usageFailure(`${flag} ${text}: give KEY=VALUE, e.g. ${flag} lr=0.001`)
  return [text.slice(0, at), text.slice(at + 1)]
}

/** Splits `NAME=VALUE` of `--env`. The value, which may be secret, is in no message. */
export function variable(text: string): [name: string, value: string] {
  const at = text.indexOf('=')
  const name = at === -1 ? text : text.slice(0, at)
  if (at === -1 || !/^[A-Za-z_]\w*$/.test(name))
    throw usageFailure(`--env ${name}: give NAME=VALUE`)
  return [name, text.slice(at + 1)]
}

/** The parts of a JSON schema that say what a value may be. */
type Schema = {
  type?: string | readonly string[]
  enum?: readonly unknown[]
  const?: unknown
  anyOf?: readonly Schema[]
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  items?: Schema
}

/**
 * The value that a text on the command line stands for: itself where a string is expected, otherwise as YAML reads it, so that
 * numbers are numbers. Where both are possible it is a number only if it reads like one that JSON writes.
 */
export function readValue(text: string, schemas: readonly Schema[]): unknown {
  const types = new Set(schemas.flatMap(typesOf))
  if (text.trim() === '' || (types.size === 1 && types.has('string'))) return text
  const value = asYaml(text)
  if (types.has('string'))
    return JSON.stringify(value) === text && typeof value !== 'string' ? value : text
  // Quotes make a string of what would be a number; a plain text keeps its line breaks.
  return typeof value === 'string' && !/^["']/.test(text) ? text : value
}

function asYaml(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return text
  }
}

const typesOf = (schema: Schema): string[] => [
  ...[schema.type ?? []].flat(),
  ...(schema.enum ?? []).map(value => typeof value),
  ...('const' in schema && schema.type === undefined ? [typeof schema.const] : []),
  ...(schema.anyOf ?? []).flatMap(typesOf),
]

/** What a JobSpec may have at a dotted path; nothing for a path that it does not know. */
export function schemasAt(path: string): Schema[] {
  let schemas: Schema[] = [jobSpec as Schema]
  for (const key of path.split('.')) schemas = schemas.flatMap(schema => within(schema, key))
  return schemas
}

function within(schema: Schema, key: string): Schema[] {
  const {
    properties = {},
    patternProperties = {},
    additionalProperties,
    items,
    anyOf = [],
  } = schema
  const known = Object.hasOwn(properties, key) ? properties[key] : undefined
  const others = typeof additionalProperties === 'object' ? [additionalProperties] : []
  return [
    ...(known ? [known] : [...Object.values(patternProperties), ...others]),
    ...(items && /^\d+$/.test(key) ? [items] : []),
    ...anyOf.flatMap(one => within(one, key)),
  ]
}

/** The schemas of the parameters of a job's recipe; none if it is unknown, which the server then reports. */
export async function parametersOf(api: Api, spec: SpecTree): Promise<Record<string, Schema>> {
  const { name, version } = (spec.lock ?? {}) as { name?: string; version?: string }
  const path = `/api/recipes/${segment(String(name))}/${segment(String(version))}`
  const recipe = name && version ? await api.find<Recipe>(path) : null
  return recipe?.params_schema.properties ?? {}
}
