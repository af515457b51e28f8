import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp } from './shared.ts'

/** Maximum things of a lineage, and steps from the requested one; `truncated` if there are more. */
export const lineageLimits = { nodes: 200, steps: 20 } as const

export const thingTypes = [
  'hub',
  'dataset',
  'environment',
  'run',
  'artifact',
  'model',
  'deployment',
] as const
export type ThingType = (typeof thingTypes)[number]

/**
 * How the later thing came from the earlier one: a run used a dataset or an RL environment (`used`), started from an artifact or a model of the hub (`init_from`), repeats
 * another (`retry`, `clone`) or made an artifact (`made`); a dataset was derived from another (`derived`); an artifact became a
 * version of a model (`registered`) or is served by a deployment (`served`); captured requests to a deployment, or the samples of a run,
 * became a version of a dataset (`reflow`).
 */
export const lineageKinds = [
  'used',
  'init_from',
  'retry',
  'clone',
  'made',
  'derived',
  'registered',
  'served',
  'reflow',
] as const

const lineageNode = Type.Object({
  /** Its type and name, such as `dataset:ada/sums@3`; unique within the response. */
  id: Type.String(),
  /** `hidden`: an origin that the caller may not read, or that was deleted. */
  type: oneOf(...thingTypes, 'hidden'),
  /** What the API calls it: a run id, `owner/name@3` of a dataset, `owner/name@0.2.1` of an environment, `name@2` of a model, `hub:org/name@<commit>`; null if it is hidden. */
  ref: nullable(Type.String()),
  /** A short name for people: short id, name or file name; null if it is hidden. */
  name: nullable(Type.String()),
  owner: nullable(Type.String()),
  state: nullable(Type.String()),
  created_at: nullable(timestamp()),
  /** The requests and tokens that a deployment has served in all; null for other things. */
  traffic: nullable(
    Type.Object({
      requests: Type.Number(),
      prompt_tokens: Type.Number(),
      completion_tokens: Type.Number(),
    }),
  ),
})

/** `GET /api/lineage/…`: the origins and results of one thing, over any number of steps. */
export const lineageGraph = Type.Object({
  /** The id of the requested thing's node. */
  id: Type.String(),
  /** Ancestors and descendants that the caller may read, oldest first. */
  nodes: Type.Array(lineageNode),
  edges: Type.Array(
    Type.Object({ kind: oneOf(...lineageKinds), from: Type.String(), to: Type.String() }),
  ),
  truncated: Type.Boolean(),
})

export type LineageNode = Static<typeof lineageNode>
export type LineageGraph = Static<typeof lineageGraph>
export type LineageEdge = LineageGraph['edges'][number]
