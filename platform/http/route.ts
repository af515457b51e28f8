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
  /** The koa context, for headers, streams and cookies. */
  ctx: Context
}

/** A response other than JSON: its media type or types. */
export type Media = { mediaType: string | readonly string[]; description: string }

export type RouteDefinition<
  Caller,
  P extends TObject | undefined,
  Q extends TObject | undefined,
  B extends TSchema | undefined,
> = {
  method: Method
  /** As OpenAPI writes it: `/api/shelves/{owner}/{name}`; `{+path}` at the end takes the rest, slashes included. */
  path: string
  tag: string
  summary: string
  params?: P
  query?: Q
  body?: B
  /** Media type of a body that the handler reads itself, from `ctx.req`; instead of `body`. */
  rawBody?: string
  /** Another form that the body may have instead of JSON; `parse` throws `Invalid` itself. */
  binaryBody?: { mediaType: string; parse: (bytes: Buffer) => unknown }
  /** A missing body counts as `{}`. */
  bodyMayBeAbsent?: boolean
  /** Maximum bytes of the body after decompression; default 1 MiB. */
  bodyLimitBytes?: number
  /** The body's schema names all keys at every level (see `parseJson`). */
  flatBody?: boolean
  /** The last of equal keys in one object counts, instead of 400; saves hot routes a second pass over their bodies. */
  keysMayRepeat?: boolean
  /** `NaN` and `Infinity`, as Python writes them, count as the strings that stand for them. */
  bareNonFinite?: boolean
  /** Runs before validation, for instance to refuse a body in another dialect. */
  beforeSchema?: (body: unknown) => void
  /** Must imply that the schema accepts the body; saves hot routes the validation. */
  isPlain?: (body: unknown) => boolean
  /** How often one client may call; every call that matches the schema counts. */
  rateLimit?: RateLimit
  /** Also served while the disk is full, as `GET` and `DELETE` are: it stops something or signs somebody in. */
  servedOnFullDisk?: boolean
  /** Schema of the 200 body, or its media type if it is not JSON. */
  response: TSchema | Media
  /** Possible refusals other than those of every route (401, 422, 503). */
  refusals?: readonly RefusalCode[]
  /** Returns the body, or undefined if it wrote to `ctx` itself. */
  handle: (request: Request<Caller, P, Q, B>) => Promise<unknown>
}

/** A route with its types erased. */
export type HttpRoute<Caller> = RouteDefinition<
  Caller,
  TObject | undefined,
  TObject | undefined,
  TSchema | undefined
>

/** A route without its handler. */
export type RouteShape = Omit<HttpRoute<unknown>, 'handle'>

/** A route with any type of caller. */
export type AnyRoute = HttpRoute<never>

/** The caller type of a route. */
export type CallerOf<Route extends AnyRoute> = Parameters<Route['handle']>[0]['caller']
