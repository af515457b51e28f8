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

/** The path with its parameters filled in; a parameter belongs to the word before it. */
function inPath(path: string, { nouns }: Fixture): string {
  let noun = ''
  const parts = path.split('/').map(part => {
    const parameter = /^\{\+?(\w+)\}$/.exec(part)?.[1]
    if (parameter === undefined) {
      noun = part
      return part
    }
    const value = nouns[noun]?.[parameter]
    if (value === undefined)
      throw new Error(`no sample makes a ${parameter} of ${noun} for ${path}: see test/README.md`)
    return value
  })
  return parts.join('/')
}
