import type { Route } from '../../auth/route.ts'
import { smallest } from './given-body.ts'
import type { Fixture } from './sample.ts'
import type { Call } from './send.ts'

/** The request for these things, with the smallest valid body. */
export function callOf({ method, path, body, bodyMayBeAbsent, query }: Route, has: Fixture): Call {
  const asked = Object.entries((query ? smallest(query, has.fields) : {}) as Record<string, string>)
  return {
    method,
    path: `${inPath(path, has)}${asked.length > 0 ? `?${new URLSearchParams(asked)}` : ''}`,
    ...(body && !bodyMayBeAbsent && { body: smallest(body, { ...has.fields }) }),
  }
}

/** Whether these things are enough for the path: samples that were made by an earlier version lack later kinds. */
export const isNamed = (path: string, { nouns }: Fixture): boolean =>
  parametersOf(path).every(({ noun, parameter }) => nouns[noun]?.[parameter] !== undefined)

/** The path with its parameters filled in. */
function inPath(path: string, { nouns }: Fixture): string {
  let filled = path
  for (const { noun, parameter, written } of parametersOf(path)) {
    const value = nouns[noun]?.[parameter]
    if (value === undefined)
      throw new Error(`no sample makes a ${parameter} of ${noun} for ${path}: see test/README.md`)
    filled = filled.replace(written, () => value)
  }
  return filled
}

/** A parameter belongs to the word before it. */
function parametersOf(path: string): { noun: string; parameter: string; written: string }[] {
  let noun = ''
  return path.split('/').flatMap(written => {
    const parameter = /^\{\+?(\w+)\}$/.exec(written)?.[1]
    if (parameter !== undefined) return [{ noun, parameter, written }]
    noun = written
    return []
  })
}
