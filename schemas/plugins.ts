import { type Static, Type } from 'typebox'
import { pluginHooks, pluginModes } from './plugin-words.ts'
import { closed, nullable, oneOf, pageQuery, timestamp } from './shared.ts'

/** The most plugins of an installation. */
export const maxPlugins = 20

export const pluginPath = Type.Object({
  name: Type.String({ pattern: '^[a-z0-9][a-z0-9_.-]{0,62}$' }),
})

/** `rotate_secret`: gives it a new secret; the former one signs, too, for 24 hours. */
export const pluginInput = closed({
  url: Type.String({ minLength: 1, maxLength: 2048 }),
  hooks: Type.Array(oneOf(...pluginHooks), {
    minItems: 1,
    maxItems: pluginHooks.length,
    uniqueItems: true,
  }),
  mode: oneOf(...pluginModes),
  timeout_ms: Type.Integer({ minimum: 100, maximum: 3000, default: 3000 }),
  enabled: Type.Boolean({ default: true }),
  rotate_secret: Type.Boolean({ default: false }),
})
export type PluginInput = Static<typeof pluginInput>

const plugin = {
  plugin_id: Type.String(),
  name: Type.String(),
  url: Type.String(),
  hooks: Type.Array(oneOf(...pluginHooks)),
  mode: oneOf(...pluginModes),
  timeout_ms: Type.Integer(),
  enabled: Type.Boolean(),
  secret_prefix: Type.String(),
  set_at: timestamp(),
  set_by: Type.String(),
  /** The error of its newest call, if that failed. */
  last_error: nullable(Type.String()),
  /** Calls of the last 24 hours, among the 10,000 that are kept. */
  calls_24h: Type.Integer({ minimum: 0 }),
  /** Messages that it has not accepted yet. */
  waiting: Type.Integer({ minimum: 0 }),
  /** Messages that were given up. */
  dead: Type.Integer({ minimum: 0 }),
}

export const pluginRow = Type.Object(plugin)
export type PluginRow = Static<typeof pluginRow>

/** `secret`: shown once, when it is new. */
export const pluginSaved = Type.Object({ ...plugin, secret: nullable(Type.String()) })
export type PluginSaved = Static<typeof pluginSaved>

export const pluginRemoved = Type.Object({ name: Type.String(), removed: Type.Literal(true) })

/** The newest 10,000 of seven days are kept. */
export const pluginCallsQuery = closed({ limit: pageQuery.limit })

export const pluginCall = Type.Object({
  hook: Type.String(),
  /** What the call was about, e.g. a run or a project. */
  subject: Type.String(),
  at: timestamp(),
  ms: Type.Integer({ minimum: 0 }),
  outcome: oneOf('answered', 'refused', 'failed'),
  /** The HTTP status; null without an answer. */
  status: nullable(Type.Integer()),
  error: nullable(Type.String()),
})
export type PluginCall = Static<typeof pluginCall>

/** The first of its hooks if none is given. */
export const pluginTest = closed({ hook: Type.Optional(oneOf(...pluginHooks)) })

export const pluginTested = Type.Object({
  hook: oneOf(...pluginHooks),
  ok: Type.Boolean(),
  ms: Type.Integer({ minimum: 0 }),
  status: nullable(Type.Integer()),
  error: nullable(Type.String()),
  /** Null without a usable answer. */
  answer: Type.Unknown(),
})
export type PluginTested = Static<typeof pluginTested>

const reason = nullable(Type.String({ maxLength: 1000 }))

/** Answers of plugins. Keys that these do not name are ignored. */
export const mutateAnswer = Type.Object({
  /** A JSON merge patch (RFC 7396) of the JobSpec; null: no change. */
  patch: nullable(Type.Record(Type.String(), Type.Unknown())),
  reason: Type.Optional(reason),
})
export const allowAnswer = Type.Object({
  allow: Type.Boolean(),
  reason: Type.Optional(reason),
})
export const analyzeAnswer = Type.Object({
  words: nullable(Type.String({ minLength: 1, maxLength: 4000 })),
  /** The name of the language model that wrote them, if one did. */
  model: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 100 }))),
})
