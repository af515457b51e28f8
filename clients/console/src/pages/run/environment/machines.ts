import type { Static } from 'typebox'
import type { nodesAnswer } from '../../../../../../schemas/environment.ts'
import { bytesOf } from '../../../words/amounts.ts'

export type Node = Static<typeof nodesAnswer>[number]

/** A machine in a row of a table; null: not reported. */
export type Machine = {
  node: string
  rank: string | null
  gpus: string | null
  cpu: string | null
  memory: string | null
  driver: string | null
  network: string | null
}

export function machineOf({ node, facts }: Node): Machine {
  const { node_rank, cpu_model, cpu_count, mem_total_bytes, cuda_driver } = facts
  return {
    node,
    rank: stringOrNull(node_rank),
    gpus: gpusOf(facts),
    cpu: counted(cpu_count, stringOrNull(cpu_model)),
    memory: typeof mem_total_bytes === 'number' ? bytesOf(mem_total_bytes) : null,
    driver: stringOrNull(cuda_driver),
    network: networkOf(facts),
  }
}

type Facts = Node['facts']
type Fields = Readonly<Record<string, unknown>>

/** `8 × NVIDIA H200`, each kind with its number. */
function gpusOf({ gpus, gpu_count }: Facts): string | null {
  const names = objectsIn(gpus).flatMap(({ name }) => stringOrNull(name) ?? [])
  const kinds = [...Map.groupBy(names, name => name)]
  if (kinds.length > 0) return kinds.map(([name, of]) => counted(of.length, name)).join(', ')
  return typeof gpu_count === 'number' ? String(gpu_count) : null
}

/** `400 Gbit/s infiniband · NVLink full` */
function networkOf({ nics, nvlink }: Facts): string | null {
  const cards = objectsIn(nics).map(({ speed_gbps, kind }) =>
    [typeof speed_gbps === 'number' ? `${speed_gbps} Gbit/s` : null, stringOrNull(kind)]
      .filter(text => text !== null)
      .join(' '),
  )
  const kinds = [...Map.groupBy(cards, card => card)].filter(([card]) => card !== '')
  const all = kinds.map(([card, of]) => (of.length === 1 ? card : `${of.length} × ${card}`))
  if (typeof nvlink === 'string') all.push(`NVLink ${nvlink}`)
  return all.length === 0 ? null : all.join(' · ')
}

function counted(count: unknown, name: string | null): string | null {
  if (typeof count !== 'number') return name
  return name === null ? String(count) : `${count} × ${name}`
}

const objectsIn = (list: unknown): Fields[] =>
  Array.isArray(list) ? list.filter(one => typeof one === 'object' && one !== null) : []

const stringOrNull = (value: unknown): string | null =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : null
