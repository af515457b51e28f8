import type { Credential, Reach } from '../../../auth/caller.ts'
import type { Route } from '../../../auth/route.ts'
import { statusOfRefusal } from '../../../platform/refusal.ts'
import { mentions } from '../../samples/given-body.ts'
import type { Kind } from '../../samples/sample.ts'
import type { Answer } from '../../samples/send.ts'
import { runVariables } from '../../servers/run-variables.ts'

/** The rights of a credential on a route: `in` lets it reach the handler, to which with `hidden` nothing of that name exists. */
export type Worth = 'in' | 'unauthenticated' | 'forbidden' | 'hidden'

const people: Partial<Record<Kind, Worth>> = { admin: 'in', operator: 'in' }

/** Kinds that are not listed get 401 (specification, "Authentication"). */
const worth: Record<Exclude<Credential, 'none'>, Partial<Record<Kind, Worth>>> = {
  person: people,
  admin: { admin: 'in', operator: 'forbidden' },
  ingest: {
    'ingest token': 'in',
    'ingest token in its own header': 'in',
    'ingest token of another run': 'forbidden',
  },
  session: { ...people, 'refresh cookie': 'in' },
  refresh: { 'refresh cookie': 'in' },
  metrics: { admin: 'in', operator: 'forbidden', 'metrics token': 'in' },
}

export function worthOf(route: Route, kind: Kind): Worth {
  if (route.credential === 'none') return 'in'
  // If a request names no run, the token's run is meant, and what its owner may reach.
  if (kind === 'ingest token of another run' && route.credential === 'ingest' && !namesRun(route))
    return route.reach === undefined ? 'in' : 'hidden'
  return worth[route.credential][kind] ?? 'unauthenticated'
}

/** The owner of the thing that a request names, from the caller's point of view. */
export const things = ['own', "another's", "another's, as admin", 'missing'] as const
export type Thing = (typeof things)[number]

/** `found`: not 401, 403, 404 or a failure of the server; `missing`: byte for byte the response for a missing thing. */
export type Outcome = 'found' | 'missing' | 'forbidden' | 'none such' | 'free'

const reached: Record<Reach, Record<Thing, Outcome>> = {
  all: row('found', 'found', 'none such'),
  its_people: row('missing', 'found', 'none such'),
  its_owner: row('missing', 'forbidden', 'none such'),
  self: row('missing', 'missing', 'none such'),
  taken: row('forbidden', 'found', 'free'),
  own_name: row('free', 'free', 'free'),
}

function row(anothers: Outcome, asAdmin: Outcome, missing: Outcome): Record<Thing, Outcome> {
  return { own: 'found', "another's": anothers, "another's, as admin": asAdmin, missing }
}

export const outcomeOf = (reach: Reach, thing: Thing): Outcome => reached[reach][thing]

const nameFields = ['run_id', 'project', 'topics', 'ids', 'experiment_id', 'experiment_name']

/** Whether a request of this route names a thing that somebody has. */
export const namesSomething = (route: Route): boolean =>
  route.path.includes('{') || nameFields.some(field => namesBy(route, field))

export const namesRun = (route: Route): boolean =>
  route.path.includes('{run_id}') || namesBy(route, 'run_id')

const namesBy = ({ body, query }: Route, field: string): boolean =>
  mentions(body, field) ||
  (query?.required as readonly string[] | undefined)?.includes(field) === true

/** Whether the table says who may see the things in a route's requests. */
export const hasRule = (route: Route): boolean =>
  route.credential !== 'person' || route.reach !== undefined || !namesSomething(route)

const refusing = new Set([401, 403, 404])

/** Faults of a response to a permitted caller for an existing thing. */
export function faultsOfFound(route: Route, { status, text }: Answer): string[] {
  if (status >= 200 && status < 300) return []
  const declared = (route.refusals ?? []).map(code => statusOfRefusal[code])
  const allowed = [422, ...(route.body ? [400] : []), ...declared].some(
    code => code === status && !refusing.has(code),
  )
  return allowed ? [] : [`${status} for who may: ${text.slice(0, 300)}`]
}

/** The slice of `--slice`. */
export const slice = process.env[runVariables.slice]

/** With `--slice`, only the routes that name the slice; otherwise all. */
export function isSelected({ path }: Pick<Route, 'path'>): boolean {
  const noun = slice?.replace(/s$/, '')
  return noun === undefined || path.split('/').some(part => part.startsWith(noun))
}
