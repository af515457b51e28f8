import type { Environment, EnvironmentEvent, Node } from '../../events/environment.ts'
import { Refusal } from '../../platform/refusal.ts'
import { maxNodes } from '../../schemas/environment.ts'

export type Picture = {
  run_id: string
  digest: string
  captured_at: string
  picture: Record<string, unknown>
}

/** Repeating a picture appends no event, even with another capture time. */
export const capture = ({ digest }: Environment, picture: Picture): EnvironmentEvent[] =>
  digest === picture.digest ? [] : [{ type: 'environment.captured', data: picture }]

/** Adds nodes, and replaces nodes whose description changed. */
export function describeNodes(
  { nodes }: Environment,
  run_id: string,
  described: readonly Node[],
): EnvironmentEvent[] {
  const last = new Map(described.map(one => [one.node, one]))
  const total = new Set([...Object.keys(nodes), ...last.keys()]).size
  if (total > maxNodes)
    throw new Refusal(
      'invalid',
      `The run would have ${total} nodes; at most ${maxNodes} are allowed`,
      { code: 'environment.too_many_nodes' },
    )
  const news = [...last.values()].filter(
    ({ node, digest }) => !Object.hasOwn(nodes, node) || nodes[node] !== digest,
  )
  return news.length === 0
    ? []
    : [{ type: 'environment.nodes_described', data: { run_id, nodes: news } }]
}
