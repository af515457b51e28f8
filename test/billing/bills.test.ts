import { writeFile } from 'node:fs/promises'
import test, { type ExecutionContext } from 'ava'
import { parse } from 'csv-parse/sync'
import { toSignedMicro } from '../../events/calculations/billing.ts'
import type { EntryRow, SummaryRow } from '../../schemas/billing.ts'
import { commandLine } from '../servers/command-line.ts'
import { dutyNow } from '../servers/duty-now.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'
import {
  jobsAtTimes,
  rebuilt,
  setPrice,
  settled,
  submit,
  withoutExecutor,
} from '../usage/jobs-at-times.ts'

const slot = '2026-11-20T00:00:00.000Z'
const month = 'month=2026-11'

/** Alice's job runs over midnight and over the end of the month, bob's is hidden from her; alice stores half a terabyte. */
async function bills(t: ExecutionContext) {
  const forge = await startForge(t, withoutExecutor)
  await setPrice(forge, '3.60')
  const rates = { gpu: {}, storage_per_gb_month: '0.0200' }
  await forge.call('PUT', '/api/billing/rates', { body: rates })
  await forge.pool.query("update write.rate_version set effective_at = '2026-11-01T00:00:00Z'")
  const [alice, bob] = [await signedIn(forge, 'alice'), await signedIn(forge, 'bob')]
  const at = jobsAtTimes(forge)
  const mine = await submit(forge, 'of-alice', alice)
  const hidden = await submit(forge, 'of-bob', bob)
  await at.run(mine, '2026-11-20T23:59:00.000Z')
  await at.pause(mine, '2026-11-21T00:00:30.000Z')
  await at.exit(mine, '2026-11-21T00:01:00.001Z', 0)
  await at.resume(mine, '2026-11-30T10:00:00.000Z')
  await at.run(mine, '2026-11-30T23:59:50.000Z')
  await at.exit(mine, '2026-12-01T00:00:10.000Z')
  await at.run(hidden, '2026-11-20T10:00:00.000Z')
  await at.exit(hidden, '2026-11-20T11:00:00.000Z')
  const of = [{ owner: 'alice', project: 'of-alice', bytes: '500000000000' }]
  // Delivered twice.
  for (const _ of [1, 2]) await dutyNow(forge, 'storage bill', { slot, of, price: '0.0200' })
  await settled(forge)
  return { forge, alice, bob, mine, hidden }
}

async function get<T>(forge: Forge, path: string, token?: string): Promise<T> {
  const { status, body } = await forge.call<T>('GET', path, token ? { token } : {})
  if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`)
  return body
}
const entries = (forge: Forge, query: string, token?: string) =>
  get<EntryRow[]>(forge, `/api/billing/entries?${query}`, token)
const summary = async (forge: Forge, query: string, token?: string) =>
  (await get<SummaryRow[]>(forge, `/api/billing/summary?${query}`, token)).map(
    ({ group, cost }) => [group, cost],
  )

test.serial(
  'people see the entries of a month that are theirs; a day of storage is billed once',
  async t => {
    const { forge, alice, bob, mine } = await bills(t)
    const shown = (await entries(forge, month, alice)).map(
      ({ kind, day, quantity, unit, cost, run_id }) => [kind, day, quantity, unit, cost, run_id],
    )
    t.deepEqual(shown, [
      ['run', '2026-11-30', '20.000', 'gpu_second', '0.02', mine],
      ['run', '2026-11-21', '120.002', 'gpu_second', '0.120002', mine],
      ['run', '2026-11-20', '120.000', 'gpu_second', '0.12', mine],
      // 500 GB × 24 h × 0.02 / 720 h, rounded once.
      ['storage', '2026-11-20', '12000.000000', 'gb_hour', '0.333333', null],
    ])
    t.is((await entries(forge, 'month=2026-12', alice)).length, 1)
    t.deepEqual(
      (await entries(forge, month, bob)).map(({ owner }) => owner),
      ['bob'],
    )
    t.is((await entries(forge, month)).length, 5)
    t.deepEqual(await entries(forge, `${month}&user=bob`, alice), [])
    t.deepEqual(await summary(forge, month, alice), [['of-alice', '0.593335']])
    t.deepEqual(await summary(forge, `${month}&group=user`), [
      ['bob', '7.20'],
      ['alice', '0.593335'],
    ])
    t.deepEqual(await summary(forge, `${month}&group=kind`, alice), [
      ['storage', '0.333333'],
      ['run', '0.260002'],
    ])
    t.deepEqual(await summary(forge, `${month}&group=team`, alice), [[null, '0.593335']])
    t.deepEqual(await summary(forge, `${month}&group=token`, bob), [[null, '7.20']])
  },
)

test.serial('a correction is a further entry that refers to the first one', async t => {
  const { forge, alice, mine } = await bills(t)
  const corrects = `${mine}.0`
  const correct = (body: object, token?: string) =>
    forge.call<{ entry_id: string; detail: string }>('POST', '/api/billing/corrections', {
      ...(token !== undefined && { token }),
      body: { entry_id: corrects, cost: '-0.05', reason: 'a broken node', ...body },
    })
  t.is((await correct({}, alice)).status, 403)
  t.is((await correct({ entry_id: 'run_none.0' })).status, 404)
  t.is((await correct({ cost: '0.1234567' })).status, 422)
  t.is((await correct({})).status, 200)
  await settled(forge)
  const [found] = await entries(forge, `${month}&kind=correction`, alice)
  t.like(found, { corrects, cost: '-0.05', reason: 'a broken node', run_id: mine, owner: 'alice' })
  t.deepEqual(await summary(forge, `${month}&group=run`, alice), [
    [null, '0.333333'],
    [mine, '0.210002'],
  ])
})

test.serial(
  'the export has every entry of a month, with the sum of the summary, also after a rebuild',
  async t => {
    const { forge } = await bills(t)
    await forge.call('POST', '/api/billing/corrections', {
      body: { entry_id: 'storage:2026-11-20:alice:of-alice', cost: '-0.333333', reason: '=1+1' },
    })
    await settled(forge)
    const sumOf = (rows: Record<string, string>[], column: string) =>
      rows.reduce((sum, row) => sum + toSignedMicro(row[column] ?? ''), 0n)
    const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
    const exported = async (format: string) => {
      const { stdout, code, stderr } = await run(['bill', '--month', '2026-11', '--format', format])
      t.is(code, 0, stderr)
      const file = process.env.FOCUS_FILE
      if (file !== undefined && format === 'focus') await writeFile(file, stdout)
      return parse(stdout, { columns: true }) as Record<string, string>[]
    }
    const [own, focus] = [await exported('csv'), await exported('focus')]
    t.is(own.length, 6)
    t.is(sumOf(own, 'cost'), 7_460_002n)
    t.is(sumOf(focus, 'BilledCost'), 7_460_002n)
    t.deepEqual(
      focus.map(row => row.ChargePeriodStart),
      own.map(row => `${row.starts_at?.slice(0, 19)}Z`),
    )
    t.deepEqual([...new Set(focus.map(row => row.BillingPeriodEnd))], ['2026-12-01T00:00:00Z'])
    const [correction] = focus.filter(row => row.ChargeClass === 'Correction')
    t.like(correction, { BilledCost: '-0.333333', ChargeDescription: "'=1+1" })
    await rebuilt(forge)
    t.deepEqual(await exported('csv'), own)
  },
)
