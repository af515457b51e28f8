import { type Static, Type } from 'typebox'
import { closed, nullable, oneOf, pageQuery, timestamp } from './shared.ts'

const id = () => Type.Optional(Type.String({ minLength: 1, maxLength: 256 }))
const seconds = () => Type.Integer({ minimum: 60, maximum: 86_400 })
export const defaultTimes = { idle_timeout_s: 1800, max_lifetime_s: 14_400 }

/** Default parameters for the console and the command line; the session itself changes no request. */
const sampling = {
  temperature: nullable(Type.Number({ minimum: 0, maximum: 5 })),
  top_p: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  max_tokens: nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  seed: nullable(Type.Integer({ minimum: 0, maximum: 4_294_967_295 })),
}
export const noSampling = { temperature: null, top_p: null, max_tokens: null, seed: null }

/** The body of `POST /api/playground`: one of the sources; `template` if no engine serves it yet. */
export const playgroundInput = closed({
  source: closed({ artifact_id: id(), revision_id: id(), model: id() }),
  template: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  profile: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  params: Type.Optional(
    closed({
      temperature: Type.Optional(sampling.temperature),
      top_p: Type.Optional(sampling.top_p),
      max_tokens: Type.Optional(sampling.max_tokens),
      seed: Type.Optional(sampling.seed),
    }),
  ),
  idle_timeout_s: Type.Optional(seconds()),
  max_lifetime_s: Type.Optional(seconds()),
})
export type PlaygroundInput = Static<typeof playgroundInput>

export const playgroundStates = ['starting', 'ready', 'expired', 'closed', 'failed'] as const

/** A session as a route returns it (contract: "Playground session"). */
export const playgroundSession = Type.Object({
  session_id: Type.String(),
  source: Type.Object({
    artifact_id: nullable(Type.String()),
    revision_id: nullable(Type.String()),
    model: nullable(Type.String()),
  }),
  state: oneOf(...playgroundStates),
  state_reason: nullable(Type.String()),
  base_url: Type.String(),
  /** Names of the model that its engine serves. */
  served_names: Type.Array(Type.String()),
  /** The deployment whose engines respond; created for the session if none served the source yet. */
  deployment_id: Type.String(),
  created_by: Type.String(),
  created_at: timestamp(),
  last_used_at: timestamp(),
  expires_at: timestamp(),
  idle_timeout_s: Type.Integer(),
  max_lifetime_s: Type.Integer(),
  params: Type.Object(sampling),
})
export type PlaygroundSession = Static<typeof playgroundSession>

export const playgroundClosed = Type.Object({ ok: Type.Literal(true), changed: Type.Boolean() })
export const playgroundPath = Type.Object({
  session_id: Type.String({ minLength: 1, maxLength: 128 }),
})
export const playgroundQuery = closed(pageQuery)
