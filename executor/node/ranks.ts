import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
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

/** Below the ephemeral ports, so that no outgoing connection takes the port before rank 0 does. */
const ports = { first: 20_000, count: 10_000 }
const portTries = 100

/** A free port, chosen at random so that two attempts that start at once rarely get the same one. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < portTries; tries++) {
    const port = ports.first + randomInt(ports.count)
    if (await isFree(port)) return port
  }
  throw new Error('no port is free for the ranks to meet at')
}

const isFree = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: '0.0.0.0', exclusive: true }, () =>
      server.close(() => resolve(true)),
    )
  })
