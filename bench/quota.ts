import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createPool } from '../platform/postgres/pool.ts'
import { type Played, quotaGpus, raceForQuota } from '../test/jobs/quota-rounds.ts'
import { callApi, signIn } from '../test/servers/api.ts'
import type { Forge } from '../test/servers/forge.ts'
import { serverProcess } from '../test/servers/server-process.ts'
import { databaseUrl } from './rig/database.ts'

const usage = `npm run bench:quota -- [options]
50 jobs of one GPU, submitted at once to two servers by somebody who may hold eight, while two machines start what they can.
  --rounds N   (200)`

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.error(usage)
  process.exit(0)
}

const rounds = Number(values.rounds)
let count = 0
/** Each round's people sign in from a different address: one address may do so ten times a minute. */
const clientOf = (round: number) => ({
  'x-forwarded-for': `10.0.${Math.floor(round / 256)}.${round % 256}`,
})
const folder = await mkdtemp(join(tmpdir(), 'forge-quota-'))
const env = { SERVICE_ROLES: 'command-api,query-api', SERVICE_TRUSTED_PROXY_HOPS: '1' }
const first = await serverProcess({ folder, env })
try {
  await first.start()
  const url = await databaseUrl(first.dataDir)
  const second = await serverProcess({ folder, env: { ...env, SERVICE_DATABASE_URL: url } })
  const pool = createPool(url, { max: 10, applicationName: 'forge quota race' })
  try {
    await second.start()
    const token = await signIn(first.url)
    const callTo = (address: string): Forge['call'] => {
      return (method, path, options) =>
        callApi(address, method, path, { token, ...options, headers: clientOf(count) })
    }
    const call = callTo(first.url)
    const body = { series: 'local', gpus_per_node: 4, executor: 'local' }
    await call('PUT', '/api/admin/profiles/local', { body })
    const servers = [{ call }, { call: callTo(second.url) }] as const
    const played = await raceForQuota({
      servers,
      pool,
      databaseUrl: url,
      rounds,
      played: ({ faults }) => {
        count++
        if (faults.length > 0 || count % 10 === 0) console.error(count, faults.join('; '))
      },
    })
    print(played)
  } finally {
    await pool.end()
    await second.stop()
  }
} finally {
  await first.stop()
  await rm(folder, { recursive: true, force: true })
}

function print(played: readonly Played[]): void {
  const right = played.filter(
    ({ submitted, refilled, faults }) =>
      submitted.held === quotaGpus && refilled.held === quotaGpus && faults.length === 0,
  )
  const [one] = right
  console.log(
    `${right.length} of ${played.length} rounds: ${one?.submitted.held} held and ${one?.submitted.waiting} waiting, at no time more held; then ${one?.refilled.held} and ${one?.refilled.waiting}`,
  )
  process.exitCode = right.length === played.length ? 0 : 1
}
