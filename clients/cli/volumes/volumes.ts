import type { Static } from 'typebox'
import type { VolumeRow, volumeDetail } from '../../../schemas/volumes.ts'
import { describe } from '../program/describe.ts'
import type { ExitCode } from '../program/failure.ts'
import { list } from '../program/list.ts'
import { type CommonOptions, openSignedIn, type Texts, type World } from '../program/session.ts'
import { showOne } from '../program/show-one.ts'
import { size } from '../terminal/amounts.ts'
import { oneVolume, path, pathOfVolume } from './named.ts'

type Detail = Static<typeof volumeDetail>

export const describeVolumeList = describe({
  text: 'your volumes by name; admins see those of everybody',
  options: { '--owner <username>': 'only those of a person' },
})

export const volumeList = list<VolumeRow, CommonOptions & Texts<'owner'>>({
  path,
  filters: ({ owner }) => ({ owner }),
  shown: {
    columns: [
      { title: 'VOLUME', cell: row => `${row.owner}/${row.name}`, shrinks: true },
      { title: 'STATE', cell: row => row.state },
      { title: 'USED', cell: row => usedOf(row), align: 'right' },
      { title: 'SIZE', cell: row => `${row.size_gb} GB`, align: 'right' },
      { title: 'ON', cell: row => row.backend },
      { title: 'RUNS', cell: row => runsOf(row) || '-', shrinks: true, drops: true },
      { title: 'LAST USED', cell: row => row.last_used_at, drops: true },
    ],
    none: 'No volumes yet: forge volume create NAME --size-gb 100',
    isJsonByLine: true,
  },
})

const usedOf = ({ used_bytes }: VolumeRow) => (used_bytes === null ? '-' : size(used_bytes))
const runsOf = ({ attached_to }: VolumeRow) => attached_to.map(run => run.short_id).join(' ')

export const describeVolumeShow = describe({
  text: 'a volume, the jobs that name it, and its last snapshots',
  operands: oneVolume,
})

export async function volumeShow(
  world: World,
  named: string,
  options: CommonOptions,
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const { api, terminal } = session
  const found = await api.get<Detail>(await pathOfVolume(api, named))
  return showOne(session, found, {
    facts: factsOf,
    width: 10,
    more({ attached_to, snapshots }) {
      for (const { short_id, read_only, mount_path } of attached_to)
        terminal.data(`${short_id} ${read_only ? 'reads' : 'writes'} it at ${mount_path}`)
      for (const { requested_at, state, ref, error, dataset } of snapshots)
        terminal.data(`snapshot ${requested_at}  ${state}  ${ref ?? error ?? dataset}`)
    },
  })
}

function factsOf(volume: Detail): [string, string][] {
  const { volume_id, owner, name, state, size_gb, backend, read_only, cleanup_at } = volume
  return [
    ['volume', `${owner}/${name}  ${volume_id}`],
    ['state', `${state}${read_only ? ', read-only' : ''}`],
    ['used', `${usedOf(volume)} of ${size_gb} GB on ${backend}`],
    ['last used', volume.last_used_at],
    ...(cleanup_at === null ? [] : [['emptied', cleanup_at] satisfies [string, string]]),
  ]
}
