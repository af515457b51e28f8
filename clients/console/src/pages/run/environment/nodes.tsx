import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { More } from '../../../design/more.tsx'
import { Failure } from '../../../design/notice.tsx'
import { Panel } from '../../../design/panel.tsx'
import { type Column, Table } from '../../../design/table.tsx'
import { reading } from '../../../session/api.ts'
import { useWords, wordsOf } from '../../../words/words.ts'
import { pathOfRun, type RunRecord } from '../use-run.ts'
import { type Machine, machineOf, type Node } from './machines.ts'

const words = wordsOf({
  nodes: ['Nodes', '节点'],
  node: ['Node', '节点'],
  rank: ['Rank', '序号'],
  gpus: ['GPUs', 'GPU'],
  cpu: ['CPU', 'CPU'],
  memory: ['Memory', '内存'],
  driver: ['Driver', '驱动'],
  network: ['Network', '网络'],
})

const columns = ['node', 'rank', 'gpus', 'cpu', 'memory', 'driver', 'network'] as const
const atOnce = 100

/** The machines of a multi-node run; nothing where none was described. */
export function Nodes({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const [most, setMost] = useState(atOnce)
  const nodes = useQuery(reading<Node[]>(`${pathOfRun(run.run_id)}/environment/nodes`))
  const all = nodes.data ?? []
  if (nodes.error !== null) return <Failure error={nodes.error} onRetry={nodes.refetch} />
  if (all.length === 0) return null
  const shown = all.slice(0, most)
  const more = shown.length < all.length ? () => setMost(most + atOnce) : null
  return (
    <Panel title={`${say.nodes} (${all.length})`}>
      <Table
        caption={say.nodes}
        rows={shown.map(machineOf)}
        keyOf={({ node }) => node}
        columns={columns.map((key): Column<Machine> => {
          return { key, title: say[key], cell: machine => machine[key] }
        })}
      />
      <More of={{ data: shown, total: all.length, more, isReading: false }} />
    </Panel>
  )
}
