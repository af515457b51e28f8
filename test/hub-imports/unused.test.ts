import { Readable } from 'node:stream'
import test from 'ava'
import { deleteUnused } from '../../command-api/uploads/delete-unused.ts'
import { database } from '../servers/postgres.ts'
import { routeParts } from '../servers/serve-routes.ts'
import { sha256 } from '../uploads/sending.ts'

const day = 24 * 3_600_000
const import_id = 'himp_0123456789abcdef01234567'

test('files of models stay while their import does, and arriving ones while it is under way; a day later nothing is left', async t => {
  const { pool } = await database(t)
  let now = Date.parse('2026-11-27T12:00:00Z')
  const { deps } = await routeParts(t, pool, () => new Date(now))
  const { artifacts } = deps
  const digest = sha256(Buffer.from('weights'))
  await artifacts.receive('upl_x', 0, Readable.from([Buffer.from('weights')]))
  const sealed = await artifacts.seal('upl_x')
  if (sealed) await artifacts.keep(sealed)
  await artifacts.removePart('upl_x')
  await artifacts.receive(`${import_id}_f1`, 0, Readable.from([Buffer.from('half')]))
  await pool.query(
    `insert into write.hub_import (import_id, owner, repo, commit, state) values ($1, 'ada', 'acme/tiny', 'c', 'downloading')`,
    [import_id],
  )
  await pool.query(
    `insert into write.hub_file (import_id, name, nth, size_bytes, oid, sha256, is_here)
     values ($1, 'a', 0, 7, 'o', $2, true), ($1, 'b', 1, 8, 'o', null, false)`,
    [import_id, digest],
  )
  now += 30 * day
  await deleteUnused(deps)
  t.deepEqual(await artifacts.list(), { parts: [`${import_id}_f1`], contents: [digest] })

  await pool.query(`update write.hub_import set state = 'failed'`)
  now += day
  await deleteUnused(deps)
  t.deepEqual(await artifacts.list(), { parts: [], contents: [digest] }, 'what arrived stays')

  await pool.query('delete from write.hub_import')
  now += day
  await deleteUnused(deps)
  t.deepEqual(await artifacts.list(), { parts: [], contents: [] })
})
