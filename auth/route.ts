import type { TObject, TSchema } from 'typebox'
import type { HttpRoute, RouteDefinition } from '../platform/http/route.ts'
import type { Caller, CallerOf, Credential, Permitted, Reach } from './caller.ts'

type WhoMayCall<C extends Credential> = Permitted & {
  credential: C
  /** Only a sign-in of the last 15 minutes may call it (`recent-sign-in.ts`), because it does lasting harm. */
  recentSignIn?: C extends 'person' | 'admin' ? true : never
  /**
   * Reach of the resource named by the path, else by query or body; for routes called by people, or by running code with the rights of
   * its owner.
   */
  reach?: Reach
  /** A read that waits for its caller's earlier writes, although it is a `POST` or is called by running code. */
  readsOwnWrites?: boolean
}

/** A route of Forge, with its types erased. */
export type Route = HttpRoute<Caller> & WhoMayCall<Credential>

/** Declares a route; the credential and the schemas determine the type of the handler's request. */
export const route = <
  C extends Credential,
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(
  definition: RouteDefinition<CallerOf<C>, P, Q, B> & WhoMayCall<C>,
): Route => definition as unknown as Route
