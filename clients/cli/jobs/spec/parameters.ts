import { closest } from '../../program/closest.ts'
import { Failure } from '../../program/failure.ts'

/** The parts of a recipe that describe its parameters. */
export type Recipe = {
  name: string
  version: string
  params_schema: { properties?: Record<string, Parameter> }
  params_default: Record<string, unknown>
}
export type Parameter = {
  type?: string | string[]
  minimum?: number
  exclusiveMinimum?: number
  maximum?: number
  exclusiveMaximum?: number
  enum?: readonly unknown[]
  description?: string
}

/** A refusal of parameters, with the spelling that was probably meant and the list of all. */
export function withParameters(
  failure: Failure,
  recipe: Recipe,
  given: readonly string[],
): Failure {
  const { properties = {} } = recipe.params_schema
  const known = Object.keys(properties)
  const hints = given
    .filter(name => !known.includes(name))
    .flatMap(name => {
      const meant = closest(name, known)
      return meant === null ? [] : [`hint: ${name}: did you mean ${meant}?`]
    })
  const width = Math.max(0, ...known.map(name => name.length))
  const list = known.map(
    name =>
      `  ${name.padEnd(width)}  ${about(properties[name] ?? {}, recipe.params_default[name])}`,
  )
  return new Failure(failure.exitCode, failure.message, {
    lines: [...failure.lines, ...hints, `parameters of ${recipe.name}@${recipe.version}:`, ...list],
    fields: { ...failure.fields, parameters: known },
  })
}

/** `number, above 0, at most 1, 0.001 by default: highest learning rate` */
function about(parameter: Parameter, fallback: unknown): string {
  const { description } = parameter
  const facts = [
    typeOf(parameter),
    ...limitsOf(parameter),
    ...(fallback === undefined ? [] : [`${JSON.stringify(fallback)} by default`]),
  ]
  return `${facts.join(', ')}${description === undefined ? '' : `: ${description}`}`
}

export const typeOf = (parameter: Parameter): string =>
  parameter.enum
    ? `one of ${parameter.enum.map(String).join(', ')}`
    : [parameter.type].flat().filter(Boolean).join(' or ') || 'any'

/** `above 0`, `at most 1` */
export function limitsOf(parameter: Parameter): string[] {
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum } = parameter
  return [
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(exclusiveMinimum === undefined ? [] : [`above ${exclusiveMinimum}`]),
    ...(maximum === undefined ? [] : [`at most ${maximum}`]),
    ...(exclusiveMaximum === undefined ? [] : [`below ${exclusiveMaximum}`]),
  ]
}
