import type { TObject, TSchema } from 'typebox'
import type { HttpRoute, RouteDefinition } from '../platform/http/route.ts'
import type { Caller, CallerOf, Credential, Reach } from './caller.ts'

type WhoMayCall<C extends Credential> = {
  credential: C
  /** Of what the path names, or else the query or the body; for routes of persons. */
  reach?: Reach
}

/** A route of Forge as its process serves it, whatever its types were. */
export type Route = HttpRoute<Caller> & WhoMayCall<Credential>

/** Declares a route; the handler's request is typed by the credential and the schemas beside it. */
export const route = <
  C extends Credential,
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(
  definition: RouteDefinition<CallerOf<C>, P, Q, B> & WhoMayCall<C>,
): Route => definition as unknown as Route
