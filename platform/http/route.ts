import type { Context } from 'koa'
import type { Static, TObject, TSchema } from 'typebox'
import type { RateLimit } from '../rate-limits.ts'
import type { RefusalCode } from '../refusal.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

type Input<S> = S extends TSchema ? Static<S> : undefined

export type Request<Caller, P, Q, B> = {
  caller: Caller
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
  Caller,
  P extends TObject | undefined,
  Q extends TObject | undefined,
  B extends TSchema | undefined,
> = {
  method: Method
  /** As OpenAPI writes it: `/api/shelves/{owner}/{name}`. */
  path: string
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
  handle: (request: Request<Caller, P, Q, B>) => Promise<unknown>
}

/** A route as the shell sees it, whatever its types were. */
export type HttpRoute<Caller> = RouteDefinition<
  Caller,
  TObject | undefined,
  TObject | undefined,
  TSchema | undefined
>

/** All of a route but its handler. */
export type RouteShape = Omit<HttpRoute<unknown>, 'handle'>

/** A route whoever may call it. */
export type AnyRoute = HttpRoute<never>

/** Who calls a route, as its table has it. */
export type CallerOf<Route extends AnyRoute> = Parameters<Route['handle']>[0]['caller']
