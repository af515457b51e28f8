import type { NodeOfRank } from '../../events/jobs.ts'
import type { Launch } from '../port.ts'

type Gang = Pick<Launch, 'nodes' | 'gpu_indexes'>

/** The nodes of an attempt; all are this machine, so several are numbered. */
export const nodesOf = (gang: Gang): NodeOfRank[] =>
  Array.from({ length: gang.nodes }, (_, rank) => ({
    node: gang.nodes === 1 ? 'local' : `local-${rank}`,
    rank,
    gpu_indexes: gpusOf(gang, rank),
  }))

export function gpusOf({ nodes, gpu_indexes }: Gang, rank: number): number[] {
  const each = Math.floor(gpu_indexes.length / nodes)
  return gpu_indexes.slice(rank * each, (rank + 1) * each)
}

/** The variables of torchrun for a rank of several; `MASTER_PORT` is added when the ranks start. */
export const rankVariables = (rank: number, nodes: number): Record<string, string> =>
  nodes === 1
    ? {}
    : {
        RANK: String(rank),
        WORLD_SIZE: String(nodes),
        LOCAL_RANK: '0',
        LOCAL_WORLD_SIZE: '1',
        NODE_RANK: String(rank),
        GROUP_RANK: String(rank),
        MASTER_ADDR: '127.0.0.1',
      }
