import test from 'ava'
import { setRates } from '../../command-api/profiles/rates.ts'
import { type RatesEvent, rates } from '../../events/rates.ts'
import type { RatesRow } from '../../schemas/billing.ts'
import { folded } from '../folded.ts'
import { commandLine } from '../servers/command-line.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'
import { jobsAtTimes, setPrice, submit, withoutExecutor } from '../usage/jobs-at-times.ts'

const now = new Date('2026-11-20T00:00:00Z')
const wanted = (at: string | null) => ({
  gpu: { H100: '3.60' },
  storage_per_gb_month: '0',
  effective_at: at === null ? null : new Date(at),
})

test('a version takes the place of those planned for later, and none begins in the past', t => {
  const events: RatesEvent[] = []
  const set = (at: string | null) =>
    events.push(...setRates(folded(rates, events), wanted(at), now))
  set(null)
  set('2026-12-01T00:00:00Z')
  set('2026-12-05T00:00:00Z')
  set('2026-12-01T00:00:00Z')
  t.deepEqual(
    events.map(({ data }) => [data.version, data.effective_at.slice(0, 10), data.replaced]),
    [
      [1, '2026-11-20', []],
      [2, '2026-12-01', []],
      [3, '2026-12-05', []],
      [4, '2026-12-01', [2, 3]],
    ],
  )
  t.throws(() => set('2026-11-19T23:59:59.999Z'), { message: /in the past/ })
  for (let day = 2; day <= 20; day++) set(`2027-01-${String(day).padStart(2, '0')}T00:00:00Z`)
  t.throws(() => set('2027-02-01T00:00:00Z'), { message: /planned already/ })
})

type Bill = {
  bill: { lines: { price_per_gpu_hour: string; starts_at: string; ends_at: string }[] }
}

const priceOf = async (forge: Forge) =>
  (
    await forge.call<{ name: string; price_per_gpu_hour: string }[]>('GET', '/api/profiles')
  ).body.find(({ name }) => name === 'spare')?.price_per_gpu_hour

test.serial(
  'planned rates split the bill of a running job when they begin, and not before',
  async t => {
    const forge = await startForge(t, withoutExecutor)
    await setPrice(forge, '1.00')
    const run_id = await submit(forge, 'demo', forge.token)
    const at = jobsAtTimes(forge)
    await at.run(run_id, new Date(Date.now() - 60_000).toISOString())
    const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
    const set = (price: string, from: string) =>
      run(['admin', 'rates', 'set', '--gpu', `X=${price}`, '--storage', '0.02', '--from', from])
    const past = await set('9', '2026-01-01T00:00:00Z')
    t.regex(past.stderr, /in the past/)
    const begin = new Date(Date.now() + 4000).toISOString()
    t.is((await set('9.00', new Date(Date.now() + 3_600_000).toISOString())).code, 0)
    t.is((await set('2.00', begin)).code, 0)
    t.is(await priceOf(forge), '1.0000')
    const { body: rows } = await forge.call<RatesRow[]>('GET', '/api/billing/rates')
    t.deepEqual(
      rows.map(({ version, state }) => [version, state]),
      [
        [2, 'planned'],
        [1, 'replaced'],
      ],
    )
    await until(
      'the price of the profile follows',
      30_000,
      async () => (await priceOf(forge)) === '2.0000',
    )
    await until('the bill is split', 30_000, async () => {
      const { lines } = (await forge.call<Bill>('GET', `/api/jobs/${run_id}`)).body.bill
      const last = lines.at(-1)
      return (
        last?.price_per_gpu_hour === '2.0000' && Date.parse(last.starts_at) === Date.parse(begin)
      )
    })
    t.regex((await run(['admin', 'rates', 'ls'])).stdout, /2 +in force .* X=2\.00 +0\.0200/)
  },
)
