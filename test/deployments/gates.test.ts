import test from 'ava'
import { compareScores } from '../../schemas/benchmarks/compare.ts'
import { deployed } from '../gateway/deployed.ts'
import { commandLine } from '../servers/command-line.ts'
import { startEngine } from '../servers/engine.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

const shared = sharedForge()

test('a score is worse if it lost more than the standard error of the difference', t => {
  const compare = (to: number, stderr: number | null, isHigherBetter = true) =>
    compareScores({ value: 0.7, stderr: 0.03 }, { value: to, stderr }, isHigherBetter)
  t.deepEqual(compare(0.65, 0.04), { delta: -0.05, stderr: 0.05, isNoWorse: false, isWorse: false })
  t.true(compare(0.6499, 0.04).isWorse)
  t.false(compare(0.9, 0.04).isWorse)
  t.true(compare(0.9, 0.04, false).isWorse)
  t.true(compare(0.66, null).isWorse, 'what one score says of its error counts')
  const without = { stderr: null }
  t.deepEqual(compareScores({ value: 0.7, ...without }, { value: 0.6, ...without }, true), {
    ...{ delta: -0.1, stderr: null, isNoWorse: false, isWorse: true },
  })
})

type Reply = { detail: string; code: string; data: { failed: Record<string, unknown>[] } }
type Revision = { revision_id: string; state: string; state_reason: string | null }

/**
 * A deployment whose revisions serve the weights of a run each. Its engines run elsewhere, so their weights are added to the records
 * as if Forge had started them.
 */
async function withWeights(forge: Forge, name: string, urls: readonly string[]) {
  const made = await deployed(forge, name, urls)
  const runs = []
  for (const revision_id of made.revisions) {
    const run = await createRun(forge, 'serving')
    await weigh(forge, revision_id, run.run_id)
    runs.push(run)
  }
  return { ...made, runs }
}

async function weigh(forge: Forge, revision_id: string, run_id: string): Promise<void> {
  const weights = `'${JSON.stringify({ run_id })}'::jsonb`
  await forge.pool.query(`
    begin;
    set local session_replication_role = replica; -- Events cannot be changed otherwise.
    update write.event set data = jsonb_set(data, '{source}', data -> 'source' || ${weights})
     where type = 'deployment.revision_created' and data ->> 'revision_id' = '${revision_id}';
    update read.deployment_revisions set source = source || ${weights} where revision_id = '${revision_id}';
    commit`)
}

const score = (value: number | string, stderr: number | null = 0.02) => ({
  ...{ benchmark: 'sums', version: '1', split: 'test' },
  scores: [{ metric: 'exact_match', value, stderr, n: 100 }],
})

test('a revision that lowers a score of a gating benchmark is refused, unless a maintainer overrides it', async t => {
  const forge = await shared()
  const engine = await startEngine(t)
  const [bob, eve] = [await signedIn(forge, 'bob'), await signedIn(forge, 'eve')]
  const { path, revisions, runs } = await withWeights(forge, 'gated', [engine.url, engine.url])
  const [serving, candidate] = revisions
  const definition = { metric: 'exact_match', split: 'test' }
  await forge.call('PUT', '/api/benchmarks/sums', { body: definition })
  const gate = (benchmark_gates: string[], token = forge.token) =>
    forge.call('PATCH', path, { body: { benchmark_gates }, token })

  t.like((await gate(['sums@1', 'sums@2', 'none@1'])).body, {
    detail: [
      { loc: ['body', 'benchmark_gates', 1], input: 'sums@2' },
      { loc: ['body', 'benchmark_gates', 2], input: 'none@1' },
    ],
  })
  t.is((await gate(['sums@1'], eve)).status, 404)
  await forge.call('PUT', '/api/projects/serving/members/bob', { body: { role: 'member' } })
  t.is((await gate(['sums@1'], bob)).status, 403)
  t.is((await gate(['sums@1'])).status, 200)

  const promote = (body: object = {}, token = forge.token) =>
    forge.call<Reply>('POST', `${path}/revisions/${candidate}/promote`, { body, token })
  const [first, second] = runs
  if (!first || !second) throw new Error('two runs were made')
  await ingest(forge, first, 'benchmark', score(0.7))
  const unmeasured = await promote()
  t.is(unmeasured.status, 409)
  t.like(unmeasured.body, { code: 'deployment.benchmark_gate', data: { failed: [{ to: null }] } })

  await ingest(forge, second, 'benchmark', score(0.6))
  const worse = await promote()
  t.is(worse.status, 409)
  t.like(worse.body.data.failed[0], {
    ...{ benchmark: 'sums@1', metric: 'exact_match', from: 0.7, to: 0.6, delta: -0.1 },
    ...{ from_stderr: 0.02, to_stderr: 0.02 },
  })
  t.regex(
    worse.body.detail,
    /exact_match of sums@1 is 0\.6 ± 0\.02, after 0\.7 ± 0\.02 .*-0\.1 is worse .*0\.0282/,
  )
  const rolledTo = await forge.call('POST', `${path}/rollback`, { body: { to: candidate } })
  t.is(rolledTo.status, 409, 'a rollback to a revision that never served is no way around it')

  const shown = await until('the scores can be read', 20_000, async () => {
    const { body } = await forge.call<{ gates: object[] }>('GET', `${path}/revisions/${candidate}`)
    return body.gates.length > 0 && body
  })
  t.like(shown.gates[0], { benchmark: 'sums@1', delta: -0.1, ok: false, refuses: true })

  t.is((await promote({ override_gates: true })).status, 400, 'without a reason')
  t.is((await promote({ override_gates: true, reason: 'x' }, bob)).status, 403)
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  t.regex((await run(['deploy', 'show', 'gated'])).stdout, /must not lower the scores of sums@1/)
  t.regex(
    (await run(['deploy', 'promote', 'gated', '2'])).stderr,
    /-0\.1 is worse by more than one/,
  )
  const overriding = ['deploy', 'promote', 'gated', '2', '--override-gates']
  t.regex(
    (await run([...overriding, '-m', 'the old one is unsafe'])).stdout,
    /revision 2 is promoted/,
  )
  const move = await until('the promotion can be read', 20_000, async () => {
    const { body } = await forge.call<{ overridden: string[]; revision_id: string }[]>(
      'GET',
      `${path}/promotions`,
    )
    const [newest] = body
    return newest && newest.revision_id === candidate && newest.overridden.length > 0 && newest
  })
  t.deepEqual(move.overridden, ['sums@1: worse by more than one standard error'])

  // Back to the previous one, which is always possible; then a better score of the other is enough.
  await ingest(forge, first, 'benchmark', score(0.1))
  t.is((await forge.call('POST', `${path}/rollback`, { body: {} })).status, 200)
  const { body } = await forge.call<{ promoted_revision_id: string }>('GET', path)
  t.is(body.promoted_revision_id, serving ?? '')
  await ingest(forge, first, 'benchmark', score(0.62))
  t.is((await promote()).status, 200, 'worse by less than one standard error')
})

test('the refusal hides scores of runs that the caller may not read', async t => {
  const forge = await shared()
  const engine = await startEngine(t)
  const { path, revisions, runs } = await withWeights(forge, 'shared', [engine.url, engine.url])
  await forge.call('PUT', '/api/benchmarks/hidden', { body: { metric: 'exact_match' } })
  await forge.call('PATCH', path, { body: { benchmark_gates: ['hidden@1'] } })
  const elsewhere = await createRun(forge, 'of-admin')
  await weigh(forge, revisions[0] ?? '', elsewhere.run_id)
  for (const [run, value] of [
    [elsewhere, 0.9],
    [runs[1], 0.5],
  ] as const)
    if (run)
      await ingest(forge, run, 'benchmark', {
        ...{ ...score(value), benchmark: 'hidden' },
        split: null,
      })
  const carl = await signedIn(forge, 'carl')
  await forge.call('PUT', '/api/projects/serving/members/carl', { body: { role: 'maintainer' } })
  const refused = await forge.call<Reply>('POST', `${path}/revisions/${revisions[1]}/promote`, {
    body: {},
    token: carl,
  })
  t.is(refused.status, 409)
  t.false(JSON.stringify(refused.body).includes('0.9'), JSON.stringify(refused.body))
  t.deepEqual(refused.body.data.failed, [{ benchmark: 'hidden@1' }])
})

test('a revision to be promoted once it is ready is held back by a benchmark, and shows why', async t => {
  const forge = await shared()
  const engine = await startEngine(t)
  const { path, runs } = await withWeights(forge, 'held', [engine.url])
  await forge.call('PUT', '/api/benchmarks/held', { body: { metric: 'exact_match' } })
  await forge.call('PATCH', path, { body: { benchmark_gates: ['held@1'] } })
  const [run] = runs
  if (!run) throw new Error('a run was made')
  await ingest(forge, run, 'benchmark', { ...score(0.7), benchmark: 'held', split: null })
  const source = { kind: 'external', url: engine.url }
  const made = await forge.call<Revision>('POST', `${path}/revisions`, {
    body: { source, promote: true },
  })
  const ready = await until('it is ready', 30_000, async () => {
    const { body } = await forge.call<Revision>('GET', `${path}/revisions/${made.body.revision_id}`)
    return body.state === 'ready' && body.state_reason !== null && body
  })
  t.is(ready.state_reason, 'held@1: no score')
  const { body } = await forge.call<{ promoted_revision_id: string }>('GET', path)
  t.not(body.promoted_revision_id, made.body.revision_id)
})
