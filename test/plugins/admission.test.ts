import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import type { PluginCall, PluginRow, PluginSaved, PluginTested } from '../../schemas/plugins.ts'
import type { RecipeLock } from '../../schemas/recipes.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { jobsAtTimes, setPrice, submit, withoutExecutor } from '../usage/jobs-at-times.ts'
import {
  isSigned,
  json,
  type Received,
  type SmallPlugin,
  startSmallPlugin,
} from './small-plugin.ts'

type Gate = { gate: string; ok: boolean; detail: string; data?: Record<string, unknown> }
type Answer = {
  run_id: string
  detail: string
  gate: string
  code: string
  data: { plugins?: string[] }
  gates: Gate[]
  admission: { gates: Gate[] }
}

const folder = await mkdtemp(join(tmpdir(), 'plugin-'))
const plugin = await startSmallPlugin(folder)
const shared = sharedForge({
  ...withoutExecutor,
  SERVICE_OUTGOING_HOSTS: `localhost:${plugin.port}`,
  SERVICE_OUTGOING_CA_FILE: plugin.caFile,
})
test.after.always('the plugin ends', async () => {
  plugin.close()
  await rm(folder, { recursive: true })
})

async function scene(username: string) {
  const forge = await shared()
  await setPrice(forge, '1')
  const token = await signedIn(forge, username)
  const { body: lock } = await forge.call<RecipeLock>('GET', '/api/recipes/digits/1.0.0/lock')
  const job = (spec: object) => ({
    ...{ api: 'forge/v2', metadata: { name: 'a job', project: username }, lock },
    spec: { resources: { profile: 'spare', gpus_per_node: 2 }, ...spec },
  })
  return {
    forge,
    token,
    submit: (spec: object = {}) =>
      forge.call<Answer>('POST', '/api/jobs', { token, body: job(spec) }),
    preflight: (spec: object = {}) =>
      forge.call<Answer>('POST', '/api/jobs/preflight', { token, body: job(spec) }),
  }
}

const put = (forge: Forge, name: string, body: object) =>
  forge.call<PluginSaved & { detail: unknown }>('PUT', `/api/admin/plugins/${name}`, { body })

const remove = (forge: Forge, name: string) => forge.call('DELETE', `/api/admin/plugins/${name}`)

const pluginGates = (gates: readonly Gate[]) =>
  gates.filter(({ gate }) => gate.startsWith('plugin:'))

const validator = (path: string, mode = 'fail_closed') => ({
  ...{ url: plugin.url(path), hooks: ['admission.validate'], mode, timeout_ms: 500 },
})

test.serial('plugins change and refuse jobs, and bad answers end as their mode says', async t => {
  t.timeout(patient(300_000))
  const { forge, submit: send, preflight } = await scene('ada')

  // A mutation is shown, signed, and meets the gates.
  plugin.on('/mutate', json({ patch: { spec: { params: { epochs: 2 } } }, reason: 'short' }))
  const mutator = { url: plugin.url('/mutate'), hooks: ['admission.mutate'], mode: 'fail_closed' }
  const created = await put(forge, 'shorten', mutator)
  t.is(created.status, 200, JSON.stringify(created.body))
  t.regex(String(created.body.secret), /^whsec_/)
  t.is((await put(forge, 'shorten', mutator)).body.secret, null)
  const env = { HUB_TOKEN: 'hf_secretsecretsecret', PLAIN: 'x' }
  const tried = await preflight({ env })
  const change = { path: 'spec.params.epochs', from: null, to: 2 }
  const [shown] = pluginGates(tried.body.gates)
  t.like(shown, { gate: 'plugin:shorten', ok: true, data: { hook: 'admission.mutate' } })
  t.deepEqual(shown?.data?.changes, [change])
  t.is(shown?.detail, 'changed spec.params.epochs: short')
  const admitted = await send({ env })
  t.deepEqual(pluginGates(admitted.body.admission.gates)[0]?.data?.changes, [change])
  const job = await until('the job is shown', 20_000, async () => {
    const { body } = await forge.call<{
      spec?: { spec: { params: object } }
      admission: { gates: Gate[] }
    }>('GET', `/api/jobs/${admitted.body.run_id}`)
    return body.spec ? body : null
  })
  t.deepEqual(job.spec?.spec.params, { epochs: 2 })
  t.deepEqual(pluginGates(job.admission.gates)[0]?.data?.changes, [change])
  const [first] = plugin.received
  t.true(first && isSigned(first, String(created.body.secret)))
  t.false(plugin.received.some(({ body }) => body.includes('hf_secret')))
  t.is(first?.data.dry_run, true)

  // After a rotation both secrets sign.
  const rotated = await put(forge, 'shorten', { ...mutator, rotate_secret: true })
  await preflight()
  const last = plugin.received.at(-1)
  for (const { secret } of [created.body, rotated.body])
    t.true(last && isSigned(last, String(secret)))

  // A mutation that a gate refuses names the plugin.
  plugin.on('/mutate', json({ patch: { spec: { resources: { gpus_per_node: 99_999 } } } }))
  const tooMuch = await send()
  t.is(tooMuch.status, 400)
  t.like(tooMuch.body, { gate: 'quota', data: { plugins: ['shorten'] } })
  t.regex(tooMuch.body.detail, /plugin shorten changed spec\.resources\.gpus_per_node/)

  // What no plugin may change.
  const forbidden: [object, RegExp][] = [
    [{ metadata: { project: 'other' } }, /metadata\.project, which no plugin may change/],
    [{ metadata: { team: 'rich' } }, /metadata\.team, which/],
    [{ metadata: { labels: { 'retry-of': 'run_x' } } }, /retry-of, which/],
    [{ lock: { digest: `sha256:${'0'.repeat(64)}` } }, /lock, which/],
    [{ spec: { secrets: ['HUB_TOKEN'] } }, /spec\.secrets, which/],
    [{ spec: { approval: { plan_id: 'pln_x' } } }, /spec\.approval, which/],
    [{ api: 'forge/v1' }, /api, which|leaves no JobSpec/],
    [{ kind: 'serve' }, /kind, which|leaves no JobSpec/],
    [{ owner: 'eve' }, /leaves no JobSpec: owner/],
    [{ quota: { max_concurrent_gpus: 1000 } }, /leaves no JobSpec: quota/],
  ]
  for (const [patch, words] of forbidden) {
    plugin.on('/mutate', json({ patch }))
    const { status, body } = await send()
    t.is(status, 400, JSON.stringify(patch))
    t.like(body, { gate: 'plugin:shorten', code: 'plugin.failed' })
    t.regex(body.detail, words)
  }
  t.is((await remove(forge, 'shorten')).status, 200)

  // A refusal, in words of the plugin.
  plugin.on('/policy', json({ allow: false, reason: 'only on weekdays' }))
  await put(forge, 'policy', validator('/policy'))
  const refused = await send()
  t.is(refused.status, 400)
  t.like(refused.body, { gate: 'plugin:policy', code: 'plugin.refused' })
  t.is(refused.body.detail, 'The plugin policy refuses the job: only on weekdays')

  // Slow, dead, lying, huge, redirecting and hostile answers.
  let inward = 0
  plugin.on('/inward', response => {
    inward++
    json({ allow: true })(response)
  })
  const bad: [string, Parameters<SmallPlugin['on']>[1], RegExp][] = [
    ['/slow', () => {}, /no answer within 0\.5 s/],
    ['/drip', response => drip(response), /no answer within 0\.5 s/],
    ['/dead', response => response.destroy(), /gave no usable answer/],
    ['/broken', response => response.writeHead(500).end('{}'), /status 500/],
    ['/text', response => response.end('{"allow": tru'), /is not JSON/],
    ['/shape', json({ allow: 'yes' }), /another shape: allow/],
    ['/list', json([true]), /another shape/],
    ['/proto', response => response.end('{"allow": true, "__proto__": {"a": 1}}'), /is not JSON/],
    [
      '/huge',
      response => response.end(`{"allow": true, "x": "${'x'.repeat(300_000)}"}`),
      /more than 262144 bytes/,
    ],
    [
      '/away',
      response => response.writeHead(307, { location: '/inward' }).end(),
      /it redirects \(status 307\)/,
    ],
  ]
  for (const [path, answer, words] of bad) {
    plugin.on(path, answer)
    await put(forge, 'policy', validator(path))
    const closed = await send()
    t.is(closed.status, 400, path)
    t.like(closed.body, { gate: 'plugin:policy', code: 'plugin.failed' }, path)
    t.regex(closed.body.detail, words)
    await put(forge, 'policy', validator(path, 'fail_open'))
    const open = await send()
    t.is(open.status, 200, path)
    t.like(pluginGates(open.body.admission.gates), [{ gate: 'plugin:policy', ok: true }])
  }
  t.is(inward, 0)

  // Nobody waits for a plugin that keeps failing.
  await put(forge, 'policy', validator('/slow', 'fail_open'))
  for (let time = 0; time < 5; time++) await send()
  const calls = plugin.received.length
  const rested = await send()
  t.regex(String(pluginGates(rested.body.admission.gates)[0]?.detail), /is not called for 30 s/)
  t.is(plugin.received.length, calls)

  // What administrators see of it.
  const { body: rows } = await forge.call<PluginRow[]>('GET', '/api/admin/plugins')
  t.like(rows, [{ name: 'policy', mode: 'fail_open', last_error: 'no answer within 0.5 s' }])
  t.true(Number(rows[0]?.calls_24h) > 20)
  const { body: seen } = await forge.call<PluginCall[]>(
    'GET',
    '/api/admin/plugins/policy/calls?limit=2',
  )
  t.like(seen, [
    { hook: 'admission.validate', subject: 'ada/a job', outcome: 'failed', status: null },
    { outcome: 'failed' },
  ])
  plugin.on('/slow', json({ allow: true }))
  const tested = await forge.call<PluginTested>('POST', '/api/admin/plugins/policy/test')
  t.like(tested.body, { ok: true, hook: 'admission.validate', answer: { allow: true } })
})

function drip(response: import('node:http').ServerResponse): void {
  response.writeHead(200)
  const timer = setInterval(() => response.write(' '), 50)
  response.on('close', () => clearInterval(timer))
}

test.serial('ends of jobs are sent in their order, again until they are accepted', async t => {
  t.timeout(patient(300_000))
  const { forge, token } = await scene('bob')
  const hooks = ['job.terminal', 'artifact.registered']
  const teller = { url: plugin.url('/told'), hooks, mode: 'fail_open' }
  const { body: set } = await put(forge, 'teller', teller)
  let down = true
  const told: Received[] = []
  plugin.on('/told', (response, one) => {
    told.push(one)
    response.writeHead(down ? 503 : 204).end()
  })
  const at = jobsAtTimes(forge)
  const runs: string[] = []
  for (const _ of [1, 2, 3]) {
    const run_id = await submit(forge, 'bobs', token)
    const now = Date.now()
    await at.run(run_id, new Date(now - 1000).toISOString())
    await at.exit(run_id, new Date(now).toISOString())
    runs.push(run_id)
  }
  await until('the first message failed', 30_000, () => told.length > 0)
  const waiting = async () => {
    const { body } = await forge.call<PluginRow>('GET', '/api/admin/plugins/teller')
    return body
  }
  await until('all wait', 30_000, async () => (await waiting()).waiting === 3)
  t.true(told.every(({ data }) => data.run_id === runs[0]))
  down = false
  const { plugin_id } = set
  await forge.pool.query('update write.plugin_message set due_at = now() where plugin_id = $1', [
    plugin_id,
  ])
  await until('all were told', 30_000, async () => (await waiting()).waiting === 0)
  const taken = told.slice(-3)
  t.deepEqual(
    taken.map(({ data }) => data.run_id),
    runs,
  )
  t.like(taken[0]?.data, { state: 'failed', project: 'bobs', owner: 'bob', attempt: 1 })
  t.is(taken[0]?.headers['webhook-id'], told[0]?.headers['webhook-id'])
  t.is(new Set(taken.map(({ headers }) => headers['webhook-id'])).size, 3)
  t.true(taken.every(one => isSigned(one, String(set.secret))))

  // Words about its diagnosis are marked as those of the plugin.
  plugin.on('/words', json({ words: 'Look at the batch size.', model: 'small-1' }))
  await put(forge, 'reader', { ...teller, url: plugin.url('/words'), hooks: ['diagnosis.analyze'] })
  await forge.call('POST', '/api/job/diagnose', { token, body: { job_id: runs[0] } })
  const comments = await until('a plugin commented', 60_000, async () => {
    const path = `/api/jobs/${runs[0]}/diagnoses`
    const { body } = await forge.call<{ comments: object[] }[]>('GET', path, { token })
    return body.find(one => one.comments.length > 0)?.comments
  })
  t.like(comments, [{ plugin: 'reader', model: 'small-1', words: 'Look at the batch size.' }])
  const asked = plugin.received.find(({ path }) => path === '/words')
  t.like(asked?.data, { short_id: 'bobs-1', owner: 'bob' })
  await remove(forge, 'reader')

  // After its last attempt a message is dead, and the next one follows.
  down = true
  const run_id = await submit(forge, 'bobs', token)
  const now = Date.now()
  await at.run(run_id, new Date(now - 1000).toISOString())
  await at.exit(run_id, new Date(now).toISOString())
  await until('it waits', 30_000, async () => (await waiting()).waiting === 1)
  await forge.pool.query(
    'update write.plugin_message set attempts = 7, due_at = now() where plugin_id = $1',
    [plugin_id],
  )
  await until('it is dead', 30_000, async () => (await waiting()).dead === 1)
  t.is((await waiting()).waiting, 0)
  await remove(forge, 'teller')
  const { rows } = await forge.pool.query('select from write.plugin_message where plugin_id = $1', [
    plugin_id,
  ])
  t.is(rows.length, 0)
})

test.serial(
  'addresses that are no public https are refused, and who is no admin gets nowhere',
  async t => {
    const { forge, token } = await scene('eve')
    const bad = [
      'http://example.com/',
      'https://127.0.0.1/',
      'https://10.0.0.1/',
      'https://[::1]/',
      'https://2130706433/',
    ]
    for (const url of [
      ...bad,
      'https://a:b@example.com/',
      'https://example.com:22/',
      'no address',
    ]) {
      const { status, body } = await put(forge, 'inward', {
        url,
        hooks: ['job.terminal'],
        mode: 'fail_open',
      })
      t.is(status, 422, url)
      t.like((body.detail as object[])[0], { loc: ['body', 'url'] })
    }
    for (const path of ['', '/none', '/none/calls'])
      t.is((await forge.call('GET', `/api/admin/plugins${path}`, { token })).status, 403)
    t.is((await remove(forge, 'none')).status, 404)
  },
)
