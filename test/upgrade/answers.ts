import { createHash } from 'node:crypto'
import type { Route } from '../../auth/route.ts'
import { callOf, isNamed } from '../samples/call-of.ts'
import type { Samples } from '../samples/make.ts'
import { bearer, type Send } from '../samples/send.ts'

/** By person and path: the status, and the body as JSON, or else its digest. */
export type Answers = Record<string, { status: number; body: unknown }>

/** In place of what differs between two servers on the same data, such as the time of the response. */
export const varies = '<varies>'

type Reading = Pick<Samples, 'people' | 'made'> & { routes: readonly Route[]; send: Send }

/** What a version or its settings bring along, and nobody stored. */
const broughtAlong = /^\/api\/(recipes|model-hub)/

/** Reads everything that people can read of their own. */
export async function readEverything({ people, made, routes, send }: Reading): Promise<Answers> {
  const answers: Answers = {}
  for (const who of ['admin', 'operator'] as const)
    for (const route of routes) {
      const isRead = route.method === 'GET' && ['person', 'admin'].includes(route.credential)
      if (
        !isRead ||
        broughtAlong.test(route.path) ||
        (route.credential === 'admin' && who !== 'admin') ||
        !isNamed(route.path, made[who])
      )
        continue
      const { path } = callOf(route, made[who])
      const headers = bearer(people[who].token)
      const { status, text } = await send({ method: 'GET', path, headers })
      answers[`${who} ${path}`] = { status, body: bodyOf(text) }
    }
  return answers
}

function bodyOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return createHash('sha256').update(text).digest('hex')
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What two responses have in common; `varies` where they differ. */
export function common(a: unknown, b: unknown): unknown {
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length)
    return a.map((value, index) => common(value, b[index]))
  if (isObject(a) && isObject(b))
    return Object.fromEntries(
      Object.keys(a).map(key => [key, key in b ? common(a[key], b[key]) : varies]),
    )
  return Object.is(a, b) ? a : varies
}

/** The places where a response lacks a recorded value. It may have more: later versions add fields. */
export function lacking(recorded: unknown, now: unknown, place = ''): string[] {
  if (recorded === varies) return []
  if (Array.isArray(recorded) && Array.isArray(now) && recorded.length === now.length)
    return recorded.flatMap((value, index) => lacking(value, now[index], `${place}[${index}]`))
  if (isObject(recorded) && isObject(now))
    return Object.keys(recorded).flatMap(key => lacking(recorded[key], now[key], `${place}.${key}`))
  if (Object.is(recorded, now)) return []
  return [`${place}: ${JSON.stringify(recorded)} became ${JSON.stringify(now)}`]
}
