import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { deleteUnused } from '../../command-api/uploads/delete-unused.ts'
import { type ForgeProcess, startForgeProcess } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { routeParts } from '../servers/serve-routes.ts'
import { until } from '../servers/until.ts'

const dayMs = 24 * 3_600_000
const underWay = `select from write.duty where reactor = 'snapshot-volumes' and attempts = 1 and done_at is null`

type Shown = { snapshots: { state: string; ref: string | null }[] }

/** A volume with some large files. */
async function filled(forge: ForgeProcess, files: number): Promise<string> {
  const { body } = await forge.call<{ volume_id: string }>('POST', '/api/volumes', {
    body: { name: 'killed', size_gb: 1 },
  })
  const { rows } = await forge.pool.query<{ directory: string }>(
    'select directory from write.volume',
  )
  const folder = join(forge.dataDir, 'volumes', rows[0]?.directory ?? '')
  await mkdir(folder, { recursive: true })
  const row = `${JSON.stringify({ text: 'a row of some length'.repeat(40) })}\n`
  for (let nth = 0; nth < files; nth++)
    await writeFile(join(folder, `part-${nth}.jsonl`), row.repeat(25_000 + nth))
  return `/api/volumes/${body.volume_id}`
}

test('a snapshot that was killed is completed once, and nothing is left of the first attempt', async t => {
  t.timeout(patient(240_000))
  const forge = await startForgeProcess(t, {
    SERVICE_ROLES: 'command-api,relay,projector,query-api',
  })
  const path = await filled(forge, 4)
  const asked = await forge.call('POST', `${path}/snapshots`, { body: { dataset: 'admin/killed' } })
  t.is(asked.status, 200, JSON.stringify(asked.body))
  await until('it is under way', 30_000, async () => {
    const begun = await forge.pool.query(underWay)
    const sent = await forge.pool.query('select from write.upload')
    return begun.rowCount === 1 && sent.rowCount !== 0
  })
  await forge.kill()
  const { rows: before } = await forge.pool.query<{ versions: number }>(
    `select count(*)::int as versions from write.event where type = 'dataset.version_created'`,
  )
  t.deepEqual(before, [{ versions: 0 }], 'it was killed in between')
  await forge.start()
  const ended = await until('it has ended', 150_000, async () => {
    const [newest] = (await forge.call<Shown>('GET', path)).body.snapshots
    return newest !== undefined && newest.state !== 'running' && newest
  })
  t.like(ended, { state: 'ready', ref: 'admin/killed@1' })
  const { rows } = await forge.pool.query(
    `select (select attempts from write.duty where reactor = 'snapshot-volumes') as attempts,
            (select count(*)::int from write.event where type = 'dataset.version_created') as versions,
            (select count(*)::int from write.event where type = 'volume.snapshot_ready') as snapshots,
            (select count(*)::int from write.upload) as uploads,
            (select count(*)::int from write.volume_hold) as holds`,
  )
  t.deepEqual(rows, [{ attempts: 2, versions: 1, snapshots: 1, uploads: 4, holds: 0 }])

  const { deps } = await routeParts(t, forge.pool, () => new Date(Date.now() + 2 * dayMs))
  await deleteUnused(deps)
  const { rows: kept } = await forge.pool.query('select upload_id from write.upload')
  t.is(kept.length, 4, 'the version has them')
  t.is((await forge.call('DELETE', '/api/datasets/admin/killed/versions/1')).status, 200)
  await deleteUnused(deps)
  t.is((await forge.pool.query('select from write.upload')).rowCount, 0)
})
