import test from 'ava'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { createRun, type ExternalRun } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

const theForge = sharedForge()
const mount = '/api/ingest/mlflow/api/2.0/mlflow'

type Refused = { error_code: string; message: string; detail: unknown }
type Point = { key: string; value: number | string; timestamp: number; step: number }
type History = { metrics: Point[]; next_page_token?: string }

const post = (forge: Forge, run: ExternalRun, path: string, body: object | string) =>
  forge.call<Refused>('POST', `${mount}/${path}`, {
    token: run.token,
    body: typeof body === 'string' ? body : { run_id: run.run_id, ...body },
  })

const history = async (forge: Forge, run: ExternalRun, query: string) =>
  (
    await forge.call<History>(
      'GET',
      `${mount}/metrics/get-history?run_id=${run.run_id}&metric_key=${query}`,
      { token: run.token },
    )
  ).body

test('numbers of 64 bits may be texts, and NaN may be bare, as clients of other languages write them', async t => {
  const forge = await theForge()
  const run = await createRun(forge)
  const { status } = await post(
    forge,
    run,
    'runs/log-batch',
    `{"run_id":"${run.run_id}","metrics":[
      {"key":"a","value":NaN,"timestamp":"1795170180123","step":"1"},
      {"key":"a","value":-Infinity,"timestamp":1795170180124,"step":2},
      {"key":"NaN: \\"Infinity\\"","value":"Infinity","timestamp":1795170180125}]}`,
  )
  t.is(status, 200)
  const { metrics } = await until('two points', 20_000, async () => {
    const found = await history(forge, run, 'a')
    return found.metrics.length === 2 && found
  })
  t.deepEqual(metrics, [
    { key: 'a', value: 'NaN', timestamp: 1_795_170_180_123, step: 1 },
    { key: 'a', value: '-Infinity', timestamp: 1_795_170_180_124, step: 2 },
  ])
  const { metrics: other } = await history(forge, run, 'NaN: "Infinity"')
  t.deepEqual(other[0], {
    ...{ key: 'NaN: "Infinity"', value: 'Infinity', timestamp: 1_795_170_180_125, step: 0 },
  })
})

test('the points of a metric arrive in pages', async t => {
  const forge = await theForge()
  const run = await createRun(forge)
  const metrics = Array.from({ length: 7 }, (_, step) => ({ key: 'a', value: step, step }))
  await post(forge, run, 'runs/log-batch', { metrics })
  await until(
    'seven points',
    20_000,
    async () => (await history(forge, run, 'a')).metrics.length === 7,
  )
  const steps: number[] = []
  let token: string | undefined = ''
  while (token !== undefined) {
    const page: History = await history(forge, run, `a&max_results=3&page_token=${token}`)
    t.true(page.metrics.length <= 3)
    steps.push(...page.metrics.map(point => point.step))
    token = page.next_page_token
  }
  t.deepEqual(steps, [0, 1, 2, 3, 4, 5, 6])
  t.deepEqual(await history(forge, run, 'nothing'), { metrics: [] })
})

const many = (count: number, what: object) => Array.from({ length: count }, () => what)
const pairs = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ key: `k${at}`, value: 'x' }))

const refused: [why: string, path: string, body: object | string, status: number, code: string][] =
  [
    [
      '1,001 metrics',
      'runs/log-batch',
      { metrics: many(1001, { key: 'a', value: 1 }) },
      400,
      'INVALID_PARAMETER_VALUE',
    ],
    ['101 parameters', 'runs/log-batch', { params: pairs(101) }, 400, 'INVALID_PARAMETER_VALUE'],
    [
      '1,050 items in all',
      'runs/log-batch',
      { metrics: many(950, { key: 'a', value: 1 }), params: pairs(100) },
      400,
      'INVALID_PARAMETER_VALUE',
    ],
    [
      'a parameter of 6,001 characters',
      'runs/log-parameter',
      { key: 'a', value: 'x'.repeat(6001) },
      400,
      'INVALID_PARAMETER_VALUE',
    ],
    [
      'a key of 251',
      'runs/log-metric',
      { key: 'x'.repeat(251), value: 1 },
      400,
      'INVALID_PARAMETER_VALUE',
    ],
    [
      'a time before 1970',
      'runs/log-metric',
      { key: 'a', value: 1, timestamp: -1 },
      400,
      'INVALID_PARAMETER_VALUE',
    ],
    ['an unknown status', 'runs/update', { status: 'DONE' }, 400, 'INVALID_PARAMETER_VALUE'],
    ['malformed JSON', 'runs/log-metric', '{"run_id": ', 400, 'INVALID_PARAMETER_VALUE'],
    [
      'a body of more than 1 MB',
      'runs/log-batch',
      { x: 'x'.repeat(1_000_001) },
      413,
      'REQUEST_LIMIT_EXCEEDED',
    ],
    [
      'the run of others',
      'runs/log-metric',
      { run_id: 'run_other', key: 'a', value: 1 },
      403,
      'PERMISSION_DENIED',
    ],
    ['a tag that is not there', 'runs/delete-tag', { key: 'a' }, 409, 'RESOURCE_DOES_NOT_EXIST'],
    ['what Forge does not offer', 'registered-models/create', {}, 404, 'ENDPOINT_NOT_FOUND'],
  ]
for (const [why, path, body, status, code] of refused)
  test(`refused in MLflow’s words: ${why}`, async t => {
    const forge = await theForge()
    const run = await createRun(forge)
    const answer = await post(forge, run, path, body)
    t.is(answer.status, status)
    t.is(answer.body.error_code, code)
    t.is(typeof answer.body.message, 'string')
    t.truthy(answer.body.detail)
  })

test('a path out of the artifacts of a run is refused; a file may be empty', async t => {
  const forge = await theForge()
  const run = await createRun(forge)
  const put = async (path: string, body: string) => {
    const url = `${forge.url}/api/ingest/mlflow/api/2.0/mlflow-artifacts/artifacts/${run.run_id}/${path}`
    const headers = { authorization: `Bearer ${run.token}`, 'content-type': 'text/plain' }
    const response = await fetch(url, { method: 'PUT', headers, body })
    return { status: response.status, body: (await response.json()) as Refused }
  }
  t.is((await put('a/%2e%2e%2fb', 'x')).body.error_code, 'INVALID_PARAMETER_VALUE')
  t.is((await put('a//b', 'x')).status, 400)
  t.is((await put('empty.txt', '')).status, 200)
  t.is((await put('a/b.txt', 'x')).status, 200)
})

test('without a token, with a wrong one and with a person’s, running code is refused', async t => {
  const forge = await theForge()
  const run = await createRun(forge)
  for (const token of [null, `${run.token}x`, forge.token]) {
    const { status, body } = await forge.call<Refused>('POST', `${mount}/runs/create`, {
      token,
      body: { experiment_id: '0' },
    })
    t.is(status, 401)
    t.is(body.error_code, 'UNAUTHENTICATED')
  }
})

test('only its owner reports to a run, not even an administrator', async t => {
  const forge = await theForge()
  const token = await signedIn(forge, 'bob')
  const { body: theirs } = await forge.call<ExternalRun>('POST', '/api/runs', {
    token,
    body: { project: 'of-bob' },
  })
  const tag = { run_id: theirs.run_id, key: 'a', value: 'b' }
  const set = (as: string, run_id: string) =>
    forge.call<Refused>('POST', '/api/2.0/mlflow/runs/set-tag', {
      token: as,
      body: { ...tag, run_id },
    })
  t.is((await set(token, theirs.run_id)).status, 200)
  t.is((await set(forge.token, theirs.run_id)).body.error_code, 'PERMISSION_DENIED')
  const mine = await createRun(forge)
  t.is((await set(token, mine.run_id)).body.error_code, 'RESOURCE_DOES_NOT_EXIST')
  const found = await forge.call<{ runs?: object[] }>('POST', '/api/2.0/mlflow/runs/search', {
    token,
    body: { experiment_ids: ['demo'] },
  })
  t.deepEqual(found.body.runs, [])
})

test('NaN sorts behind all numbers in both directions, and fulfils no comparison', async t => {
  const forge = await theForge()
  const value = { low: 0.25, high: 0.93, infinite: 'Infinity', diverged: 'NaN' }
  const names = new Map<string, string>()
  for (const [name, acc] of Object.entries(value)) {
    const run = await createRun(forge, 'orders')
    names.set(run.run_id, name)
    const metrics = [{ key: 'acc', value: acc, step: 1 }]
    t.is((await post(forge, run, 'runs/log-batch', { metrics })).status, 200)
  }
  await createRun(forge, 'orders').then(run => names.set(run.run_id, 'none'))
  type Found = { runs: { info: { run_id: string }; data: { metrics?: object[] } }[] }
  const search = async (body: object): Promise<string[]> => {
    const found = await forge.call<Found>('POST', '/api/2.0/mlflow/runs/search', {
      body: { experiment_ids: ['orders'], ...body },
    })
    return found.body.runs.map(({ info }) => names.get(info.run_id) ?? 'another')
  }
  await until('all are reported', 20_000, async () => {
    const found = await forge.call<Found>('POST', '/api/2.0/mlflow/runs/search', {
      body: { experiment_ids: ['orders'] },
    })
    return found.body.runs.filter(({ data }) => data.metrics?.length).length === 4
  })
  const numbers = async (direction: string) =>
    (await search({ order_by: [`metrics.acc ${direction}`] })).slice(0, 3)
  t.deepEqual(await numbers('DESC'), ['infinite', 'high', 'low'])
  t.deepEqual(await numbers('ASC'), ['low', 'high', 'infinite'])
  t.deepEqual(await search({ order_by: ['metrics.acc DESC'], max_results: 1 }), ['infinite'])
  for (const [filter, expected] of [
    ['metrics.acc > 0.99', ['infinite']],
    ['metrics.acc >= 0.25', ['high', 'infinite', 'low']],
    ['metrics.acc < 0.5', ['low']],
    ['metrics.acc != 0.25', ['high', 'infinite']],
  ] as const)
    t.deepEqual((await search({ filter })).sort(), expected)
})

test('a person’s read writes nothing, and so names no position', async t => {
  const forge = await theForge()
  const { headers, status } = await forge.call('GET', '/api/2.0/mlflow/experiments/search')
  t.is(status, 200)
  t.is(headers.get('forge-position'), null)
})
