import test from 'ava'
import { deleteUnused } from '../../command-api/uploads/delete-unused.ts'
import { sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { routeParts } from '../servers/serve-routes.ts'
import { push, textRows, uploadData } from './pushing.ts'

const shared = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })
const dayMs = 24 * 3_600_000

test('uploads stay as long as a version has them; abandoned ones go after a day', async t => {
  t.timeout(patient(120_000))
  const forge = await shared()
  const files = { 'a.jsonl': textRows('kept'), 'b.jsonl': textRows('kept too') }
  await push(forge, 'admin/kept', files)
  const abandoned = await uploadData(forge, textRows('in no version'))
  const sweepAfter = async (days: number) => {
    const now = new Date(Date.now() + days * dayMs)
    const { deps } = await routeParts(t, forge.pool, () => now)
    await deleteUnused(deps)
    const { rows } = await forge.pool.query<{ upload_id: string }>(
      'select upload_id from write.upload',
    )
    return rows.map(({ upload_id }) => upload_id)
  }
  t.is((await sweepAfter(0)).length, 3)
  const left = await sweepAfter(2)
  t.is(left.length, 2)
  t.false(left.includes(abandoned))
  const path = '/api/datasets/admin/kept/versions/1'
  t.is((await forge.call('DELETE', path)).status, 200)
  t.deepEqual(await sweepAfter(4), [])
})
