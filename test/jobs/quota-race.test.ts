import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'
import { ended, quotaGpus, raceForQuota, stopped } from './quota-rounds.ts'

const rounds = 2

test('two machines start exactly as many of 50 concurrent jobs on two servers as the quota allows', async t => {
  const roles = { SERVICE_ROLES: 'command-api,query-api' }
  const forge = await startForge(t, roles)
  const other = await forge.another(roles)
  await forge.call('PUT', '/api/admin/profiles/local', {
    body: { series: 'local', gpus_per_node: 4, executor: 'local' },
  })
  const databaseUrl = String(forge.pool.options.connectionString)
  const { pool } = forge
  const played = await raceForQuota({ servers: [forge, other], pool, databaseUrl, rounds })
  const waiting = 50 - quotaGpus
  t.deepEqual(
    played,
    Array.from({ length: rounds }, () => ({
      submitted: { held: quotaGpus, waiting },
      refilled: { held: quotaGpus, waiting: waiting - ended - stopped },
      faults: [],
    })),
  )
  await until('waiting jobs say why', 60_000, async () => {
    const { rows } = await pool.query(
      `select distinct queue_reason as reason from write.job_state where state = 'queued'`,
    )
    return rows.length === 1 && rows[0].reason === 'quota_in_use'
  })
})
