import test from 'ava'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { createRun, type ExternalRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

const shared = sharedForge()

type Refused = { detail: { loc: unknown[]; type: string }[] }
type Series = {
  node: string | null
  index: number | null
  scope: string
  key: string
  extra: boolean
  points: number[][]
}
type Answer = {
  from: number | null
  to: number | null
  bucket_ms: number
  dropped: number
  series: Series[]
  summary: {
    idle_share: number | null
    gpus: Record<string, unknown>[]
    stragglers: { node: string; index: number; key: string }[]
  }
}

const start = Date.parse('2026-11-20T12:00:00Z')
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString()
const gpu = (seconds: number, index: number, more: object) => ({
  ts: at(seconds),
  node: 'n1',
  rank: 0,
  scope: 'gpu',
  index,
  uuid: `GPU-${index}`,
  ...more,
})

const send = (forge: Forge, run: ExternalRun, body: object) =>
  forge.call<Refused & Record<string, unknown>>('POST', '/api/ingest/hardware', {
    token: run.token,
    body: { run_id: run.run_id, ...body },
  })
const read = async (forge: Forge, run: ExternalRun, query = '') =>
  (await forge.call<Answer>('GET', `/api/runs/${run.run_id}/hardware${query}`)).body

/** Every reading in the contract, for a GPU and for the host. */
const full = [
  {
    ...gpu(0, 0, {}),
    util_pct: 97.0,
    mem_used_bytes: 71_000_000_000,
    mem_total_bytes: 85_899_345_920,
    mem_util_pct: 61.0,
    power_w: 640.1,
    power_limit_w: 700.0,
    temp_c: 66,
    sm_clock_mhz: 1980,
    sm_active_pct: null,
    tensor_active_pct: null,
    nvlink_tx_bytes: null,
    nvlink_rx_bytes: null,
    pcie_tx_bytes: null,
    pcie_rx_bytes: null,
    ecc_corrected: 0,
    ecc_uncorrected: 0,
    throttle: [],
    xid: null,
    fan_pct: 40,
  },
  {
    ts: at(0),
    node: 'n1',
    scope: 'host',
    cpu_pct: 41.0,
    mem_used_bytes: 1,
    mem_total_bytes: 1,
    disk_used_bytes: 1,
    disk_read_bps: 1,
    disk_write_bps: 1,
    net_tx_bps: 1,
    net_rx_bps: 1,
    load1: 12.3,
    proc_rss_bytes: 1,
  },
  { ts: at(0), scope: 'gpu' },
]

test.serial(
  'samples with all or hardly any fields are accepted, and repeats are harmless',
  async t => {
    const forge = await shared()
    const run = await createRun(forge)
    for (const _ of [1, 2]) {
      const reply = await send(forge, run, { interval_s: 15, points: full })
      t.is(reply.status, 200)
      t.deepEqual(reply.body as object, {
        ok: true,
        inserted: 3,
        control: { action: 'none', reason: null, deadline: null },
      })
      t.is(reply.headers.get('Forge-Control'), 'none')
    }
    const short = await send(
      forge,
      { ...run, run_id: run.short_id },
      { points: [full[0], full[0]] },
    )
    t.like(short, { status: 200, body: { inserted: 1 } })
    t.like(await send(forge, run, { points: [] }), { status: 200, body: { inserted: 0 } })
    const { series, summary } = await until('it can be read', 20_000, async () => {
      const answer = await read(forge, run)
      return answer.series.length === 21 && answer
    })
    const find = (key: string) => series.find(one => one.key === key)
    t.deepEqual(find('util_pct'), {
      node: 'n1',
      rank: 0,
      index: 0,
      uuid: 'GPU-0',
      scope: 'gpu',
      key: 'util_pct',
      extra: false,
      points: [[start, 97, 97, 97, 97]],
    } as object as Series)
    t.like(find('fan_pct'), { extra: true, points: [[start, 40, 40, 40, 40]] })
    t.like(find('load1'), { scope: 'host', index: null, points: [[start, 12.3, 12.3, 12.3, 12.3]] })
    t.like(summary.gpus[0], { samples: 1, util_mean_pct: 97, idle_share: 0, xids: [] })
  },
)

const wrongField: [field: string, value: unknown, type: string][] = [
  ['ts', '2026-11-20T12:00:00', 'datetime_parsing'],
  ['ts', 5, 'string_type'],
  ['ts', undefined, 'missing'],
  ['scope', undefined, 'missing'],
  ['scope', 'moon', 'literal_error'],
  ['node', 7, 'string_type'],
  ['node', 'x'.repeat(257), 'string_too_long'],
  ['node', 'a\u0000', 'value_error'],
  ['rank', -1, 'greater_than_equal'],
  ['rank', 0.5, 'int_type'],
  ['index', '0', 'int_type'],
  ['uuid', 1, 'string_type'],
  ['util_pct', '97', 'float_type'],
  ['util_pct', -1, 'greater_than_equal'],
  ['mem_used_bytes', {}, 'float_type'],
  ['load1', true, 'float_type'],
  ['throttle', 'power', 'list_type'],
  ['throttle', ['x'.repeat(65)], 'string_too_long'],
  ['xid', 1.5, 'int_type'],
  ['what_is_this', 'a text', 'float_type'],
]

test.serial('each bad field is 422 at its place, and no part of the call is stored', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  for (const [field, value, type] of wrongField) {
    const points = [full[2], { ...full[0], [field]: value }]
    const reply = await send(forge, run, { points })
    t.is(reply.status, 422, `${field} ${value}`)
    const rest = Array.isArray(value) ? [0] : []
    t.like(
      reply.body.detail[0],
      { loc: ['body', 'points', 1, field, ...rest], type },
      `${field} ${value}`,
    )
  }
  const wrongBody: [body: object, loc: unknown[], type: string][] = [
    [{}, ['points'], 'missing'],
    [{ points: 'x' }, ['points'], 'list_type'],
    [{ points: [], interval_s: '15' }, ['interval_s'], 'float_type'],
    [{ points: [], attempt: 0 }, ['attempt'], 'greater_than_equal'],
    [{ points: [], what: 1 }, ['what'], 'extra_forbidden'],
  ]
  for (const [body, loc, type] of wrongBody) {
    const reply = await send(forge, run, body)
    t.is(reply.status, 422, JSON.stringify(body))
    t.like(reply.body.detail[0], { loc: ['body', ...loc], type }, JSON.stringify(body))
  }
  const { rows } = await forge.pool.query('select from read.hardware_points where run_id = $1', [
    run.run_id,
  ])
  t.is(rows.length, 0)
})

test.serial(
  "another run's token, a person's and none are refused; reports end 15 minutes after the run",
  async t => {
    const forge = await shared()
    const [mine, other, ended, late] = await Promise.all([1, 2, 3, 4].map(() => createRun(forge)))
    if (!mine || !other || !ended || !late) throw new Error('no runs')
    const points = [full[0] ?? {}]
    t.is((await send(forge, { ...other, token: mine.token }, { points })).status, 403)
    t.is((await send(forge, { ...mine, run_id: 'run_unknown' }, { points })).status, 403)
    t.is((await send(forge, { ...mine, token: forge.token }, { points })).status, 401)
    t.is((await send(forge, { ...mine, token: 'fit_none' }, { points })).status, 401)
    await forge.pool.query(
      `update write.run_state set ended_at = now() - case when run_id = $1 then interval '14 minutes' else interval '16 minutes' end
      where run_id in ($1, $2)`,
      [late.run_id, ended.run_id],
    )
    t.is((await send(forge, late, { points })).status, 200)
    t.like(await send(forge, ended, { points }), { status: 409, body: { code: 'run.ended' } })
  },
)

test.serial(
  '2,000 points are accepted and 2,001 are not, a node sends 360 calls at once and no more, and 2 MiB are too large',
  async t => {
    const forge = await shared()
    const run = await createRun(forge)
    const points = (count: number, node: string) =>
      Array.from({ length: count }, (_, second) => ({ ...gpu(second, 0, { util_pct: 50 }), node }))
    t.like(await send(forge, run, { points: points(2000, 'a') }), {
      status: 200,
      body: { inserted: 2000 },
    })
    const tooMany = await send(forge, run, { points: points(2001, 'a') })
    t.is(tooMany.status, 422)
    t.like(tooMany.body.detail[0], { loc: ['body', 'points'], type: 'too_long' })
    const wide = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => [`key_${n}_${'x'.repeat(80)}`, n]),
    )
    const large = points(2000, 'a').map(point => ({ ...point, ...wide }))
    // The server may cut the connection while the client still sends.
    const cut = await send(forge, run, { points: large }).catch(() => null)
    t.true(cut === null || cut.status === 413)
    const one = Array.from({ length: 61 }, (_, n) => [`k${n}`, n])
    t.is(
      (await send(forge, run, { points: [{ ...gpu(0, 0, {}), ...Object.fromEntries(one) }] }))
        .status,
      422,
    )
    const startedMs = Date.now()
    const calls: Awaited<ReturnType<typeof send>>[] = []
    while (calls.length < 480) {
      const together = Array.from({ length: 60 }, () =>
        send(forge, run, { points: points(1, 'b') }),
      )
      calls.push(...(await Promise.all(together)))
    }
    const refused = calls.filter(call => call.status === 429)
    const dueMeanwhile = Math.ceil((Date.now() - startedMs) / 10_000)
    t.true(refused.length <= 480 - 360 && refused.length >= 480 - 360 - dueMeanwhile)
    t.true(Number(refused[0]?.headers.get('Retry-After')) > 0)
    t.is((await send(forge, run, { points: points(1, 'c') })).status, 200)
  },
)

test.serial(
  'series keep true extremes, are chosen by node, GPU, time and name, and idle and slow GPUs are named',
  async t => {
    const forge = await shared()
    const run = await createRun(forge)
    // GPU 3 is idle for a quarter of the time, and its clock is low throughout.
    const points = Array.from({ length: 400 }, (_, second) => [
      ...[0, 1, 2].map(index =>
        gpu(second, index, { util_pct: second === 333 ? 100 : 90, sm_clock_mhz: 1980 }),
      ),
      gpu(second, 3, {
        util_pct: second < 100 ? 1 : 90,
        sm_clock_mhz: 1200,
        throttle: ['hw_thermal'],
        xid: second === 7 ? 79 : null,
      }),
    ]).flat()
    await ingest(forge, run, 'hardware', { points })
    await ingest(forge, run, 'hardware', {
      points: [{ ts: at(10), node: 'n2', scope: 'gpu', index: 0, util_pct: 95 }],
    })
    const all = await until('everything can be read', 20_000, async () => {
      const answer = await read(forge, run, '?buckets=10')
      return answer.series.length === 9 && answer
    })
    t.like(all, { from: start, to: start + 399_000, dropped: 0 })
    const first = all.series.find(one => one.node === 'n1' && one.key === 'util_pct')
    t.is(first?.points.length, 10)
    t.is(Math.max(...(first?.points.map(point => point[2] ?? 0) ?? [])), 100)
    t.like(all.summary.gpus[3], {
      node: 'n1',
      index: 3,
      samples: 400,
      idle_share: 0.25,
      throttled_share: 1,
      throttle: ['hw_thermal'],
      xids: [79],
    })
    t.is(all.summary.idle_share, 100 / 1601)
    t.deepEqual(
      all.summary.stragglers.map(({ node, index, key }) => [node, index, key]),
      [['n1', 3, 'sm_clock_mean_mhz']],
    )
    const some = await read(
      forge,
      run,
      `?node=n1&index=3&keys=util_pct&from=${start + 5000}&to=${encodeURIComponent(at(8))}`,
    )
    t.deepEqual(
      some.series.map(one => one.points),
      [[5, 6, 7, 8].map(second => [start + second * 1000, 1, 1, 1, 1])],
    )
    t.like(await read(forge, run, '?node=n3'), { from: null, to: null, series: [] })
    const bad = await forge.call<Refused>('GET', `/api/runs/${run.run_id}/hardware?from=soon`)
    t.is(bad.status, 422)
    t.like(bad.body.detail[0], { loc: ['query', 'from'] })
    t.is((await forge.call('GET', '/api/runs/run_unknown/hardware')).status, 404)
  },
)
