import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import type { NodeOfRank } from '../../events/jobs.ts'
import type { Launch } from '../port.ts'

type Gang = Pick<Launch, 'nodes' | 'gpu_indexes'>

/** The nodes of an attempt: as all of them are this machine, several have numbers. */
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

/** What a rank of several finds, as torchrun names it; `MASTER_PORT` is added when the ranks start. */
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

/** Below those that the system gives to connections, so that none takes it before rank 0 does. */
const ports = { first: 20_000, count: 10_000 }
const portTries = 100

/** A port that nobody listens on now; as it is one of many, hardly any two attempts that start at once are given the same. */
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
