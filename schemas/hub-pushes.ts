import { type Static, Type } from 'typebox'
import { parseHubReference } from './hub-reference.ts'
import { closed, nullable, oneOf, pageQuery, timestamp } from './shared.ts'

/** `requested`: the files are being listed; `cancelled` by a person. */
export const hubPushStates = ['requested', 'sending', 'sent', 'failed', 'cancelled'] as const
export type HubPushState = (typeof hubPushStates)[number]
export const isPushUnderWay = (state: HubPushState): boolean =>
  state === 'requested' || state === 'sending'

/** The name of a repository of the hub: `<org>/<name>`. */
export const isHubRepo = (text: string): boolean =>
  !text.includes('@') && parseHubReference(`hub:${text}`) !== null

/** The body of `POST /api/hub-pushes`: an artifact of kind `hf_export`, or the version of a model (`name@alias`) that is one. */
export const hubPushInput = closed({
  artifact_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  /** `<org>/<name>` at the hub; created if it is not there. */
  repo: Type.String({ minLength: 3, maxLength: 193 }),
  /** Whether a new repository is private; existing ones do not change. */
  private: Type.Boolean({ default: true }),
})
export type HubPushInput = Static<typeof hubPushInput>

export const hubPushPath = Type.Object({ push_id: Type.String({ minLength: 1, maxLength: 128 }) })

/** Source and target. `artifact_id` is null if the run left none; `model`: the version that was named, `name@3`. */
export const pushFacts = {
  push_id: Type.String(),
  owner: Type.String(),
  repo: Type.String(),
  private: Type.Boolean(),
  run_id: Type.String(),
  artifact_id: nullable(Type.String()),
  model: nullable(Type.String()),
}

export const hubPushMade = Type.Object({ ...pushFacts, state: oneOf(...hubPushStates) })

/** Figures are null until the files are listed. */
export const hubPush = Type.Object({
  ...pushFacts,
  state: oneOf(...hubPushStates),
  file_count: nullable(Type.Integer()),
  bytes: nullable(Type.Integer()),
  bytes_done: Type.Integer(),
  /** Where the files are, once they are sent. */
  commit: nullable(Type.String()),
  url: nullable(Type.String()),
  /** Why it failed, in the words of the hub where it gave some. */
  error: nullable(Type.String()),
  created_at: timestamp(),
  updated_at: timestamp(),
})
export type HubPushRow = Static<typeof hubPush>

/** The same with the model card; null until the files are listed. */
export const hubPushDetail = Type.Object({ ...hubPush.properties, card: nullable(Type.String()) })

export const hubPushListQuery = closed({
  ...pageQuery,
  state: Type.Optional(oneOf(...hubPushStates)),
})

export const hubPushCancelled = Type.Object({
  push_id: Type.String(),
  state: oneOf(...hubPushStates),
  changed: Type.Boolean(),
})
