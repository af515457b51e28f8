import { join } from 'node:path'
import test from 'ava'
import { idOf, timeOf } from '../../../server/backup/manifest.ts'
import { checkAge } from '../../../server/backup/schedule.ts'
import { BackupStore } from '../../../server/backup/store.ts'
import { configFaults } from '../../servers/config-faults.ts'
import { patient } from '../../servers/patience.ts'
import { until } from '../../servers/until.ts'
import { emptyFolder, startEmbedded } from './embedded.ts'

const hourMs = 3_600_000
const at = (hours: number) => new Date(Date.parse('2026-11-26T18:05:45.123Z') + hours * hourMs)
const age = (last: number | null, now: number) =>
  checkAge(
    { ids: async () => (last === null ? [] : [idOf(at(last - 24)), idOf(at(last))]) },
    { now: at(now), began: at(0), intervalMs: 24 * hourMs },
  )

test('a backup is late after its interval, and degrades readyz after two', async t => {
  t.deepEqual(await age(0, 24), { ok: true, lag_ms: 0, last_success: at(0).toISOString() })
  t.like(await age(0, 30), { lag_ms: 6 * hourMs })
  t.false('degraded' in (await age(0, 48)))
  t.like(await age(0, 49), { ok: true, degraded: true })
  t.like(await age(null, 47), { last_success: null })
  t.false('degraded' in (await age(null, 47)))
  t.like(await age(null, 49), { degraded: true })
})

test('the name of a backup is its time', t => {
  t.is(idOf(at(0)), '20261126T180545123Z')
  t.deepEqual(timeOf(idOf(at(0))), at(0))
  for (const other of ['', 'x', '20261126T180545Z', '20269926T180545123Z', '.20261126T180545123Z'])
    t.is(timeOf(other), null, other)
})

test('with a folder in SERVICE_BACKUP_DIR the server makes backups, and readyz has the last one', async t => {
  t.timeout(patient(300_000))
  const folder = await emptyFolder(t)
  const backups = join(folder, 'backups')
  const { call } = await startEmbedded(t, folder, {
    SERVICE_BACKUP_DIR: backups,
    SERVICE_BACKUP_KEEP: '2',
  })
  const ids = await until('there is a backup', 60_000, async () => {
    const found = await new BackupStore(backups).ids()
    return found.length > 0 && found
  })
  const { body } = await call<{ checks: { backup: Record<string, unknown> } }>('GET', '/api/readyz')
  const { backup } = body.checks
  t.like(backup, { ok: true, lag_ms: 0 })
  t.is(String(backup.last_success).replace(/[-:.]/g, ''), ids[0] ?? '')
  t.false('degraded' in backup)
})

test('settings of a schedule without its folder are reported', t => {
  t.deepEqual(configFaults({ SERVICE_BACKUP_KEEP: '3', SERVICE_BACKUP_INTERVAL_HOURS: '1' }), [
    'SERVICE_BACKUP_INTERVAL_HOURS, SERVICE_BACKUP_KEEP: without effect unless SERVICE_BACKUP_DIR is set',
  ])
})
