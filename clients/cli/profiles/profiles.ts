import { segment } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { list } from '../program/list.ts'
import { type CommonOptions, openSignedIn, type Texts, type World } from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Column, showTable } from '../terminal/table.ts'

type Profile = {
  name: string
  series: string
  gpus_per_node: number
  max_nodes: number
  cpus: number | null
  memory_gb: number | null
  executor: string
  container: boolean
  available: boolean
  price_per_gpu_hour: string
}

type SetOptions = CommonOptions &
  Texts<
    | 'series'
    | 'gpusPerNode'
    | 'maxNodes'
    | 'cpus'
    | 'memoryGb'
    | 'executor'
    | 'price'
    | 'available'
    | 'container'
  >

const yesOrNo = (text: string) => ({ text, choices: ['yes', 'no'] })

const columns: Column<Profile>[] = [
  { title: 'PROFILE', cell: row => row.name },
  { title: 'SERIES', cell: row => row.series, shrinks: true },
  { title: 'GPUS/NODE', cell: row => String(row.gpus_per_node), align: 'right' },
  { title: 'NODES', cell: row => String(row.max_nodes), align: 'right' },
  { title: 'CPUS', cell: row => String(row.cpus ?? '-'), align: 'right', drops: true },
  { title: 'GB', cell: row => String(row.memory_gb ?? '-'), align: 'right', drops: true },
  { title: 'EXECUTOR', cell: row => row.executor, drops: true },
  { title: 'PRICE/GPU-H', cell: row => row.price_per_gpu_hour, align: 'right' },
  { title: 'AVAILABLE', cell: row => (row.available ? 'yes' : 'no') },
]

export const describeProfileList = describe({
  text: 'the hardware for jobs, and its price',
})

export const profileList = list<Profile>({
  path: '/api/profiles',
  isPaged: false,
  shown: { columns, none: 'There are no profiles: no executor has started yet' },
})

export const describeProfileSet = describe({
  text: 'describe hardware for jobs; omitted options stay unchanged',
  operands: { '<name>': '' },
  options: {
    '--series <name>': 'the kind of GPU, e.g. H100',
    '--gpus-per-node <count>': '',
    '--max-nodes <count>': '',
    '--cpus <count>': 'of a node; 0: not stated',
    '--memory-gb <gigabytes>': 'of a node; 0: not stated',
    '--executor <name>': 'what runs its jobs',
    '--price <amount>': 'of a GPU hour, e.g. 2.50; counts from now on',
    '--available <word>': yesOrNo('whether jobs can ask for it'),
    '--container <word>': yesOrNo('whether jobs run in their image'),
  },
})

export async function profileSet(
  world: World,
  name: string,
  options: SetOptions,
): Promise<ExitCode> {
  const change = changeOf(options)
  if (Object.keys(change).length === 0)
    throw usageFailure(
      'Nothing to change',
      'hint: forge admin profile set --help lists the options',
    )
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const profiles = await api.get<Profile[]>('/api/profiles')
  const present = profiles.find(profile => profile.name === name)
  if (!present) refuseIncomplete(name, change)
  const { name: _, ...rest } = present ?? { name }
  const profile = await api.put<Profile>(`/api/admin/profiles/${segment(name)}`, {
    ...rest,
    ...change,
  })
  if (isJson) terminal.data(toJson(profile))
  else showTable(terminal, columns, [profile])
  return exitCode.ok
}

function refuseIncomplete(name: string, change: Partial<Profile>): void {
  const missing = [
    ...(change.series === undefined ? ['--series'] : []),
    ...(change.gpus_per_node === undefined ? ['--gpus-per-node'] : []),
    ...(change.executor === undefined ? ['--executor'] : []),
  ]
  if (missing.length > 0)
    throw usageFailure(`There is no profile ${name} yet; a new one needs ${missing.join(', ')} too`)
}

function changeOf(options: SetOptions): Partial<Profile> {
  const { series, executor, price, available, container } = options
  const { gpusPerNode, maxNodes, cpus, memoryGb } = options
  return {
    ...(series !== undefined && { series }),
    ...(executor !== undefined && { executor }),
    ...(price !== undefined && { price_per_gpu_hour: price }),
    ...(available !== undefined && { available: available === 'yes' }),
    ...(container !== undefined && { container: container === 'yes' }),
    ...(gpusPerNode !== undefined && { gpus_per_node: toNumber(gpusPerNode, '--gpus-per-node') }),
    ...(maxNodes !== undefined && { max_nodes: toNumber(maxNodes, '--max-nodes') }),
    ...(cpus !== undefined && { cpus: toNumber(cpus, '--cpus') || null }),
    ...(memoryGb !== undefined && { memory_gb: toNumber(memoryGb, '--memory-gb') || null }),
  }
}

function toNumber(text: string, option: string): number {
  const number = Number(text)
  if (text.trim() === '' || !Number.isFinite(number))
    throw usageFailure(`${option} ${text}: give a number`)
  return number
}
