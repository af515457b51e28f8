import type { Context } from 'koa'
import type { Static, TObject, TSchema } from 'typebox'
import type { RateLimit } from '../rate-limits.ts'
import type { RefusalCode } from '../refusal.ts'

/**
 * Who may call a route (specification, "Authentication"). `person`: an access token; `admin`: one whose
 * role is admin; `ingest`: a run's ingest token; `session`: a live access token, or else a refresh cookie,
 * which the handler looks up; `refresh`: the refresh cookie, looked up by the handler likewise; `metrics`: an admin or the scraper's token; `none`: anybody.
 */
export type Credential = 'none' | 'person' | 'admin' | 'ingest' | 'session' | 'refresh' | 'metrics'

export type Person = {
  kind: 'person'
  username: string
  role: 'admin' | 'operator'
  /** The session the access token belongs to. */
  sid: string
  /** How the session began: `password`, `device`, `oidc`. */
  via: string
  issuedAt: Date
  expiresAt: Date
}
export type RunCaller = { kind: 'run'; runId: string; tokenId: string }
export type Anybody = { kind: 'anybody' }
export type Caller = Person | RunCaller | Anybody

export type CallerOf<C extends Credential> = C extends 'person' | 'admin'
  ? Person
  : C extends 'ingest'
    ? RunCaller
    : C extends 'session'
      ? Person | Anybody
      : Anybody

/**
 * To whom the thing that a person's request names exists; to everybody else it is, byte for byte, as if there were no
 * such thing. `all`: everybody who may call. `its_people`: its owner, whom the owner let in, and admins. `its_owner`:
 * those see it, but only its owner may do this (403). `self`: the one person, not even admins. `taken`: a name that
 * the request makes its own; one that others have is 403, for names are no secret.
 */
export type Reach = 'all' | 'its_people' | 'its_owner' | 'self' | 'taken'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

type Input<S> = S extends TSchema ? Static<S> : undefined

export type Request<C extends Credential, P, Q, B> = {
  caller: CallerOf<C>
  params: Input<P>
  query: Input<Q>
  body: Input<B>
  requestId: string
  /** The koa context, for what is not JSON: headers, streams, cookies. */
  ctx: Context
}

/** An answer that is no JSON: its media type, or each it may have. */
export type Media = { mediaType: string | readonly string[]; description: string }

export type RouteDefinition<
  C extends Credential,
  P extends TObject | undefined,
  Q extends TObject | undefined,
  B extends TSchema | undefined,
> = {
  method: Method
  /** As OpenAPI writes it: `/api/rubrics/{owner}/{name}`. */
  path: string
  credential: C
  /** Of what the path names, or else the query or the body; for routes of persons. */
  reach?: Reach
  tag: string
  summary: string
  params?: P
  query?: Q
  body?: B
  /** No body at all is taken for `{}`. */
  bodyMayBeAbsent?: boolean
  /** Bytes of the body after decompression; 1 MiB where absent. */
  bodyLimitBytes?: number
  /** The body's schema names every key at every level (see `parseJson`). */
  flatBody?: boolean
  /** Refuses a body whatever its schema says of it: for instance one that is written in another dialect. */
  beforeSchema?: (body: unknown) => void
  /** True only for what the schema accepts as it is: spares hot routes the schema's pass. */
  isPlain?: (body: unknown) => boolean
  /** How often one client may call; a call counts once it fits the schema, whatever comes of it. */
  rateLimit?: RateLimit
  /** Schema of the 200 body, or the media type of what is not JSON. */
  response: TSchema | Media
  /** Refusals a caller may meet beyond those of every route (401, 422, 503). */
  refusals?: readonly RefusalCode[]
  /** Answers the body; undefined when it wrote to `ctx` itself. */
  handle: (request: Request<C, P, Q, B>) => Promise<unknown>
}

/** A route as the shell sees it, whatever its types were. */
export type Route = RouteDefinition<
  Credential,
  TObject | undefined,
  TObject | undefined,
  TSchema | undefined
>

/** Declares a route; the handler's request is typed by the schemas beside it. */
export const route = <
  C extends Credential,
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(
  definition: RouteDefinition<C, P, Q, B>,
): Route => definition as unknown as Route
