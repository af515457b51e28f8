import test from 'ava'
import { defineBenchmark } from '../../command-api/benchmarks/define.ts'
import { commandLine } from '../servers/command-line.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { createRun, type ExternalRun } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

type Place = {
  rank: number
  short_id: string
  value: number | string
  stderr: number | null
  step: number
}
type Past = { value: number | string; is_current: boolean }
type Record = {
  name: string
  version: number
  metric: string
  created_at: string
  defined_at: string
}

const ada = { username: 'ada', role: 'operator' } as const
const content = {
  ...{ name: 'gsm8k', digest: 'sha256:1', metric: 'exact_match', higher_is_better: true },
  ...{ task: null, split: null, dataset: null, harness: null, description: '' },
}

test('who defines a benchmark first owns it; the same definition again makes no version', t => {
  const [first] = defineBenchmark(null, content, ada)
  t.like(first, { data: { owner: 'ada', version: 1 } })
  const known = { owner: 'ada', version: 1, digest: 'sha256:1' }
  t.deepEqual(defineBenchmark(known, content, ada), [])
  const other = { ...content, digest: 'sha256:2' }
  t.like(defineBenchmark(known, other, ada)[0], { data: { owner: 'ada', version: 2 } })
  const eve = { username: 'eve', role: 'operator' } as const
  for (const command of [content, other])
    t.throws(() => defineBenchmark(known, command, eve), { message: /gsm8k is ada's/ })
  t.like(defineBenchmark(known, other, { username: 'root', role: 'admin' })[0], {
    data: { owner: 'ada', version: 2 },
  })
})

const score = (value: number | string, stderr: number | null = null) => [
  { metric: 'exact_match', value, stderr, n: 100 },
  { metric: 'another', value: 99 },
]
const send = (forge: Forge, run: ExternalRun, body: object) =>
  forge.call('POST', '/api/ingest/benchmark', {
    token: run.token,
    body: { run_id: run.run_id, benchmark: 'gsm8k', version: '1', split: 'test', ...body },
  })
const define = (forge: Forge, body: object) =>
  forge.call<{ ref: string; changed: boolean }>('PUT', '/api/benchmarks/gsm8k', { body })
const definition = { metric: 'exact_match', split: 'test' }

test('a leaderboard has the best result of each run that one may read, in this version, split and metric', async t => {
  const forge = await startForge(t)
  const [bob, eve] = [await signedIn(forge, 'bob'), await signedIn(forge, 'eve')]
  t.like((await define(forge, definition)).body, { ref: 'gsm8k@1', changed: true })
  t.like((await define(forge, definition)).body, { ref: 'gsm8k@1', changed: false })
  const [one, two, odd] = [await createRun(forge), await createRun(forge), await createRun(forge)]
  const asBob: Pick<Forge, 'call'> = {
    call: (method, path, more) => forge.call(method, path, { token: bob, ...more }),
  }
  const bobs = await createRun(asBob, 'of-bob')
  for (const [run, body] of [
    [one, { step: 10, scores: score(0.5, 0.1) }],
    [one, { step: 20, scores: score(0.7, 0.02) }],
    [one, { step: 30, scores: score(0.6) }],
    [two, { step: 10, scores: score(0.9) }],
    // Recorded again: only the newer scores count.
    [two, { step: 10, scores: score(0.7, 0.03) }],
    [two, { step: 11, scores: score(0.99), split: 'train' }],
    [two, { step: 11, scores: score(0.99), version: '2' }],
    [two, { step: 11, scores: score(0.99), task: 'hard' }],
    [odd, { step: 1, scores: score('NaN') }],
    [bobs, { step: 1, scores: score(0.8) }],
  ] as const)
    t.is((await send(forge, run, body)).status, 200)

  const board = async (token: string, query = '') =>
    (await forge.call<Place[]>('GET', `/api/benchmarks/gsm8k/leaderboard${query}`, { token })).body
  const places = async (token: string, query = '') =>
    (await board(token, query)).map(({ rank, value }) => [rank, value])
  await until('all can be read', 20_000, async () => {
    const all = await board(forge.token, '?each=result')
    return (
      all.length === 6 &&
      all.some(({ value }) => value === 0.8) &&
      !all.some(({ value }) => value === 0.9)
    )
  })
  t.deepEqual(await places(forge.token), [
    [1, 0.8],
    [2, 0.7],
    [2, 0.7],
    [4, 'NaN'],
  ])
  t.like((await board(forge.token))[1], { stderr: 0.02, step: 20, n: 100 })
  t.deepEqual(await places(forge.token, '?each=result&limit=2&offset=3'), [
    [4, 0.6],
    [5, 0.5],
  ])
  t.deepEqual(await places(forge.token, '?project=of-bob'), [[1, 0.8]])
  t.deepEqual(await places(bob), [[1, 0.8]])
  t.deepEqual(await places(eve), [])
  t.is((await forge.call('GET', '/api/benchmarks/math/leaderboard')).status, 404)

  const past = async (token: string, query = '') => {
    const { body } = await forge.call<Past[]>('GET', `/api/benchmarks/gsm8k/history${query}`, {
      token,
    })
    return body.map(({ value, is_current }) => [value, is_current])
  }
  t.deepEqual(await past(forge.token), [
    [0.8, true],
    ['NaN', true],
    [0.7, true],
    [0.9, false],
    [0.6, true],
    [0.7, true],
    [0.5, true],
  ])
  t.deepEqual(await past(forge.token, '?limit=2&offset=2&project=demo'), [
    [0.9, false],
    [0.6, true],
  ])
  t.deepEqual(await past(bob), [[0.8, true]])
  t.deepEqual(await past(eve), [])
  t.is((await forge.call('GET', '/api/benchmarks/math/history')).status, 404)

  // The smallest is the best in the next version, whose results are others.
  t.like((await define(forge, { metric: 'another', higher_is_better: false })).body, {
    ref: 'gsm8k@2',
  })
  const [hard, easy] = [{ value: 3 }, { value: 2 }].map(given => [{ metric: 'another', ...given }])
  await send(forge, one, { version: '2', split: null, scores: hard })
  await send(forge, two, { version: '2', split: null, scores: easy })
  await until(
    'the newest version is shown',
    20_000,
    async () => (await board(forge.token)).length === 2,
  )
  t.deepEqual(await places(forge.token), [
    [1, 2],
    [2, 3],
  ])
  t.is((await board(forge.token, '?version=1')).length, 4)
  t.is((await forge.call('GET', '/api/benchmarks/gsm8k?version=3')).status, 404)
  const { body: listed } = await forge.call<Record[]>('GET', '/api/benchmarks?q=SM8', {
    token: eve,
  })
  t.like(listed, [{ name: 'gsm8k', version: 2, metric: 'another' }])
  const { body: versions } = await forge.call<Record[]>('GET', '/api/benchmarks/gsm8k/versions')
  t.deepEqual(
    versions.map(({ version }) => version),
    [2, 1],
  )
  t.is(versions[0]?.created_at, versions[1]?.defined_at)

  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  t.regex((await run(['bench', 'ls'])).stdout, /gsm8k@2 +another +lower/)
  t.regex(
    (await run(['bench', 'board', 'gsm8k@1'])).stdout,
    /1 +of-bob-1 .*0\.8 .*\n +2 .*0\.7 ± 0\.02/,
  )
  t.regex((await run(['bench', 'history', 'gsm8k@1'])).stdout, /demo-2 .*0\.9 .*replaced/)
  const again = ['bench', 'define', 'gsm8k', '--metric', 'another', '--lower-is-better']
  t.regex((await run(again)).stderr, /gsm8k@2 says the same already/)
  t.is((await run(['bench', 'define', 'gsm8k'])).code, 2)
})
