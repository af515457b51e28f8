import test from 'ava'
import { say, serveEngine } from '../servers/engine.ts'
import { type ForgeProcess, type OtherProcess, sharedForgeProcess } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { load } from './load.ts'
import { ServingTables } from './stage.ts'

const shared = sharedForgeProcess({ SERVICE_ROLES: 'command-api,query-api,gateway' })
let others: Promise<OtherProcess[]> | null = null

/** Three processes; two of them are gateways and nothing else. */
async function threeGateways(): Promise<{ forge: ForgeProcess; urls: string[] }> {
  const forge = await shared()
  const alone = { SERVICE_ROLES: 'gateway' }
  others ??= Promise.all([forge.another(alone), forge.another(alone)])
  return { forge, urls: [forge, ...(await others)].map(({ url }) => url) }
}

test.serial(
  'a revoked token is dead on three gateways once its revocation is answered',
  async t => {
    t.timeout(patient(120_000))
    const { forge, urls } = await threeGateways()
    const tables = new ServingTables(forge.pool)
    await tables.deploy('dep_a', 'rev_a', [await serveEngine(t, say('ok'))])
    const { token, token_id } = await tables.token('dep_a')
    const loaded = load({ urls, path: '/inference/dep_a/v1/chat', token, callers: 4 })
    await until('all gateways answer', 30_000, () => loaded.asked.length > 1_000)
    await tables.revoke(token_id)
    const revoked = performance.now()
    const from = loaded.asked.length
    await until('many are refused', 30_000, () => loaded.asked.length > from + 300)
    await loaded.stop()
    const { asked } = loaded
    const after = asked.filter(({ began }) => began >= revoked)
    t.true(after.length > 200)
    t.deepEqual([...new Set(after.map(({ status }) => status))], [401])
    const last = Math.max(...asked.filter(({ status }) => status === 200).map(({ ended }) => ended))
    t.deepEqual([...new Set(asked.map(({ status }) => status))].sort(), [200, 401])
    const [first] = asked
    const seconds = (revoked - (first?.began ?? 0)) / 1000
    t.log(
      `${Math.round(from / seconds)} requests/s; last success ${Math.round(last - revoked)} ms after`,
    )
  },
)

test.serial(
  'a hundred promotions under load fail no request, and each gateway follows at once',
  async t => {
    t.timeout(patient(120_000))
    const { forge, urls } = await threeGateways()
    const tables = new ServingTables(forge.pool)
    await tables.deploy('dep_b', 'rev_c', [await serveEngine(t, say('rev_c'))])
    await tables.deploy('dep_b', 'rev_d', [await serveEngine(t, say('rev_d'))])
    const { token } = await tables.token('dep_b')
    const loaded = load({ urls, path: '/inference/dep_b/v1/chat', token, callers: 2 })
    const changes: { began: number; ended: number; to: string }[] = []
    for (let times = 0; times < 100; times++) {
      const to = times % 2 === 0 ? 'rev_c' : 'rev_d'
      const began = performance.now()
      await tables.promote('dep_b', to)
      changes.push({ began, ended: performance.now(), to })
      const from = loaded.asked.length
      await until('some requests pass', 10_000, () => loaded.asked.length > from + 10)
    }
    await loaded.stop()
    t.deepEqual([...new Set(loaded.asked.map(({ status }) => status))], [200])
    for (const { began, ended, text, revision } of loaded.asked) {
      t.is(revision, text)
      // Requests during which nothing changed were served by the revision of their time.
      const before = changes.findLast(change => change.ended <= began)
      const isBetween = changes.every(change => change.ended <= began || change.began > ended)
      if (before && isBetween) t.is(revision, before.to)
    }
    t.log(`${loaded.asked.length} requests`)
  },
)

test.serial('gateways serve while nothing else does', async t => {
  t.timeout(patient(120_000))
  const { forge, urls } = await threeGateways()
  const tables = new ServingTables(forge.pool)
  await tables.deploy('dep_e', 'rev_e', [await serveEngine(t, say('ok'))])
  const { token } = await tables.token('dep_e')
  await forge.kill()
  const loaded = load({
    urls: urls.slice(1),
    path: '/inference/dep_e/v1/chat',
    token,
    callers: 2,
  })
  await until('they serve', 20_000, () => loaded.asked.length > 50)
  await loaded.stop()
  t.deepEqual([...new Set(loaded.asked.map(({ status }) => status))], [200])
})
