import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sample, SampleServer } from './sample.ts'
import { asked } from './send.ts'

type Made = { volume_id: string }

const named = () => ({ name: `volume-${randomUUID()}`, size_gb: 1 })

/** Makes a volume of the operator, for a request that ends it. */
const another = ({ send, people }: SampleServer) =>
  asked<Made>(send, people.operator, { method: 'POST', path: '/api/volumes', body: named() })

/** A volume of the owner, with one file. */
export const volumeSample: Sample = {
  slice: 'volumes',
  things: {
    volume: `select volume_id, name, null, owner, null, null, false from write.volume`,
  },
  async make({ ask, pool, dataDir }) {
    const { volume_id } = await ask<Made>({ method: 'POST', path: '/api/volumes', body: named() })
    const { rows } = await pool.query<{ directory: string }>(
      'select directory from write.volume where volume_id = $1',
      [volume_id],
    )
    const folder = join(dataDir, 'volumes', rows[0]?.directory ?? '')
    await mkdir(folder, { recursive: true })
    // The name that calls without a better one ask for.
    await writeFile(join(folder, 'demo'), 'of the sample')
    return { nouns: { volumes: { volume_id } } }
  },
  missing: (_, whose) => ({ nouns: { volumes: { volume_id: `vol_of_nobody_${whose}` } } }),
  hidden: ['volumes'],
  lists: { '/api/volumes': 'its people' },
  tables: {
    volumes: {
      seenBy: 'owner alone',
      isFilled: true,
      cells: ({ no }) => ({ volume_id: `vol_${no}` }),
    },
    volume_uses: {
      seenBy: 'owner alone',
      cells: ({ no }) => ({ volume_id: `vol_${no}` }),
    },
    volume_snapshots: {
      seenBy: 'owner alone',
      cells: ({ no }) => ({ snapshot_id: `snap_${no}` }),
    },
  },
  pages: () => ['/volumes/none'],
  changes: {
    'POST /api/volumes': { body: named },
    'POST /api/volumes/{volume_id}/grow': { body: () => ({ size_gb: 2 }) },
    'PATCH /api/volumes/{volume_id}': { body: () => ({ read_only: true }) },
    'POST /api/volumes/{volume_id}/snapshots': {
      body: ({ people }) => ({ dataset: `${people.operator.username}/of-a-volume` }),
    },
    'DELETE /api/volumes/{volume_id}': {
      path: async server => `/api/volumes/${(await another(server)).volume_id}`,
    },
  },
}
