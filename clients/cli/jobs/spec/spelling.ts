import { jobSpec } from '../../../../schemas/jobs/jobspec.ts'
import { closest } from '../../program/closest.ts'
import { Failure } from '../../program/failure.ts'

type Words = {
  type?: string | readonly string[]
  properties?: Record<string, Words>
  items?: Words
  anyOf?: readonly Words[]
}
type Fault = { type?: unknown; loc?: unknown }

/** A refusal of a JobSpec, with a likely spelling for each unknown key. */
export function withSpelling(failure: Failure): Failure {
  const { detail } = failure.fields
  if (!Array.isArray(detail)) return failure
  const hints = detail.flatMap(hintOf)
  if (hints.length === 0) return failure
  return new Failure(failure.exitCode, failure.message, {
    lines: [...failure.lines, ...hints.map(hint => `hint: ${hint}`)],
    fields: { ...failure.fields, hint: hints.join('; ') },
  })
}

function hintOf(fault: Fault): string[] {
  if (fault.type !== 'extra_forbidden' || !Array.isArray(fault.loc)) return []
  const path = fault.loc.slice(1).map(String)
  const wrong = path.pop()
  const known = keysAt(jobSpec as Words, path)
  if (wrong === undefined || known.length === 0) return []
  const meant = closest(wrong, known)
  const at = [...path, ''].join('.')
  return meant === null
    ? [`${at}${wrong} is unknown; known are ${known.join(', ')}`]
    : [`${at}${wrong}: did you mean ${at}${meant}?`]
}

/** The keys that an object of the schema may have; a list's index leads to its items. */
function keysAt(schema: Words, path: readonly string[]): string[] {
  const [key, ...rest] = path
  const words = schema.anyOf?.find(each => each.properties !== undefined) ?? schema
  if (key === undefined) return Object.keys(words.properties ?? {})
  const next = /^\d+$/.test(key) ? words.items : words.properties?.[key]
  return next === undefined ? [] : keysAt(next, rest)
}
