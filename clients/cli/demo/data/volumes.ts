import type { VolumeRow } from '../../../../schemas/volumes.ts'
import type { Api } from '../../api/client.ts'

/** Ada's cache, which is emptied after two weeks without use, and the results that her jobs keep. */
const volumes = [
  { name: 'hub-cache', size_gb: 20, auto_cleanup_s: 14 * 86_400 },
  { name: 'results', size_gb: 5, read_only: false },
]

export async function sendVolumes(ada: Api): Promise<void> {
  const known = await ada.get<VolumeRow[]>('/api/volumes')
  for (const volume of volumes)
    if (!known.some(({ name }) => name === volume.name))
      await ada.post('/api/volumes', volume, { creates: true })
}
