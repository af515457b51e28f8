import { type Static, Type } from 'typebox'
import { aggregate, type EventOf, event } from './event.ts'
import { count } from './words.ts'

const facts = Type.Record(Type.String(), Type.Unknown())

/** The environment of a run was reported, without secrets; a later report replaces an earlier one. */
export const environmentCaptured = event(
  'environment.captured',
  Type.Object({
    run_id: Type.String(),
    /** Digest of the environment as canonical JSON. */
    digest: Type.String(),
    captured_at: Type.String(),
    picture: facts,
  }),
  ({ run_id, digest }, who) => `${who} reported the environment of run ${run_id} (${digest})`,
)

const node = Type.Object({ node: Type.String(), digest: Type.String(), facts })
export type Node = Static<typeof node>

/** Machines of a run were described for the first time or again. */
export const nodesDescribed = event(
  'environment.nodes_described',
  Type.Object({ run_id: Type.String(), nodes: Type.Array(node) }),
  ({ run_id, nodes }, who) => `${who} described ${count(nodes.length, 'node')} of run ${run_id}`,
)

export type EnvironmentEvent = EventOf<typeof environmentCaptured> | EventOf<typeof nodesDescribed>

export type Environment = {
  digest: string | null
  /** The digest of each node's facts; look one up with `Object.hasOwn`. */
  nodes: Readonly<Record<string, string>>
}

function evolve(before: Environment, { type, data }: EnvironmentEvent): Environment {
  if (type === 'environment.captured') return { ...before, digest: data.digest }
  const described = Object.fromEntries(data.nodes.map(({ node, digest }) => [node, digest]))
  return { ...before, nodes: { ...before.nodes, ...described } }
}

export const environments = aggregate('environment', {
  events: [environmentCaptured, nodesDescribed],
  initial: { digest: null, nodes: {} },
  evolve,
  snapshot: { shape: 1 },
})

/** The environment of a run. */
export const environmentAt = (runId: string) => environments.at(runId)
