import test from 'ava'
import type { Artifact } from '../../schemas/artifacts/artifacts.ts'
import { type RetentionReport, retentionLimits } from '../../schemas/artifacts/retention.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { jobsWithCheckpoints } from './jobs-with-checkpoints.ts'
import { storing, untilIs } from './storing.ts'

const shared = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })
const byReward = { key: 'reward', goal: 'max' }

const stepsOf = async (forge: Forge, run_id: string, query = '') => {
  const { body } = await forge.call<Artifact[]>('GET', `/api/runs/${run_id}/artifacts${query}`)
  return body
    .filter(({ status }) => query !== '' || ['registered', 'verified'].includes(status))
    .map(({ step }) => step)
}
const untilSteps = (forge: Forge, run_id: string, steps: number[]) =>
  until(`the steps ${steps} are left`, 20_000, async () => {
    const left = await stepsOf(forge, run_id)
    return JSON.stringify(left) === JSON.stringify(steps)
  })

test('a job keeps its newest, its best and every nth checkpoint, automatically', async t => {
  t.timeout(patient(120_000))
  const forge = await shared()
  const jobs = await jobsWithCheckpoints(forge)
  const job = await jobs.submit('keeping', {
    checkpoints: { keep: { best: 1, latest: 2, every_nth: 30 }, metric: byReward },
  })
  const run = await jobs.start(job)
  const rewards = [0.1, 0.9, 0.2, 0.3, 0.4, 0.5, 0.6]
  for (const [index, reward] of rewards.entries())
    await run.checkpoint((index + 1) * 10, { reward })
  await untilSteps(forge, job.run_id, [70, 60, 30, 20])
  const gone = await until('the others are gone', 20_000, async () => {
    const path = `/api/runs/${job.run_id}/artifacts?status=deleted`
    const { body } = await forge.call<Artifact[]>('GET', path)
    return body.length === 3 && body
  })
  t.deepEqual(
    gone.map(({ step, deleted_by }) => [step, deleted_by]),
    [50, 40, 10].map(step => [step, 'keep_rules']),
  )
  const { artifact_id } = gone[0] as Artifact
  const content = await forge.call('GET', `/api/artifacts/${artifact_id}/content`)
  t.is(content.status, 410)
  t.regex(String(content.body.detail), /by the rules of its job \(checkpoints\.keep\)/)
  await jobs.end(run)
  await jobs.settled(job.run_id)
  t.deepEqual(await stepsOf(forge, job.run_id), [70, 60, 30, 20])
})

test('a job without rules keeps everything', async t => {
  const forge = await shared()
  const jobs = await jobsWithCheckpoints(forge)
  const job = await jobs.submit('unruled', { checkpoints: { metric: byReward } })
  const run = await jobs.start(job)
  for (const step of [1, 2, 3, 4]) await run.register({ path: `s3://b/${step}`, step })
  await jobs.settled(job.run_id)
  await untilSteps(forge, job.run_id, [4, 3, 2, 1])
  const { body } = await forge.call<{ spec: { spec: { checkpoints: { keep: unknown } } } }>(
    'GET',
    `/api/jobs/${job.run_id}`,
  )
  t.is(body.spec.spec.checkpoints.keep, null)
})

test('checkpoints that another run started from or an attempt continues from stay and are named', async t => {
  t.timeout(patient(120_000))
  const forge = await shared()
  const jobs = await jobsWithCheckpoints(forge)
  const job = await jobs.submit('needed', {
    checkpoints: { keep: { best: 0, latest: 1, every_nth: 0 } },
  })
  const run = await jobs.start(job)
  const first = await run.checkpoint(1)
  const next = await jobs.submit('needed', { init_from: { artifact_id: first.artifact_id } })
  const second = await run.checkpoint(2)
  await jobs.settled(job.run_id)
  t.deepEqual(await stepsOf(forge, job.run_id), [2, 1], 'another run started from the first')

  type Refused = { code: string; detail: string; data: { references: object[] } }
  const remove = (id: string) => forge.call<Refused>('DELETE', `/api/artifacts/${id}`)
  const inUse = await remove(first.artifact_id)
  t.is(inUse.status, 409)
  t.like(inUse.body, {
    code: 'artifact.referenced',
    data: { references: [{ kind: 'init_from', run_id: next.run_id }], references_total: 1 },
  })
  t.regex(inUse.body.detail, new RegExp(`${next.short_id} started from it`))
  const own = await remove(second.artifact_id)
  t.like(own.body.data.references, [{ kind: 'resume', run_id: job.run_id }])

  const one = async (id: string) => (await forge.call<Artifact>('GET', `/api/artifacts/${id}`)).body
  await until('the projection has the job', 20_000, async () => {
    const { protected_by } = await one(first.artifact_id)
    return protected_by.length > 0
  })
  t.deepEqual((await one(first.artifact_id)).protected_by, [{ type: 'init_from', id: next.run_id }])
  t.deepEqual((await one(second.artifact_id)).protected_by, [{ type: 'resume', id: job.run_id }])

  await jobs.end(run)
  t.is((await remove(first.artifact_id)).status, 409, 'the end of the producer changes nothing')
  await forge.call('POST', `/api/jobs/${next.run_id}/stop`, { body: {} })
  t.is((await remove(first.artifact_id)).status, 409, 'a retry would start from it')
  t.is((await forge.call('DELETE', `/api/runs/${next.run_id}`)).status, 200)
  t.is((await remove(first.artifact_id)).status, 200)
  t.is((await remove(second.artifact_id)).status, 200)
  await t.throwsAsync(jobs.submit('needed', { init_from: { artifact_id: first.artifact_id } }), {
    message: new RegExp(`${first.artifact_id} was deleted`),
  })
})

test('the job of an engine is not shown as protecting the artifact that it serves', async t => {
  const forge = await shared()
  const jobs = await jobsWithCheckpoints(forge)
  const { register } = storing(forge, await createRun(forge, 'engines'))
  const { artifact_id } = (await register({ path: 's3://b/served', step: 1 })).body
  const { run_id } = await jobs.submit('engines', { init_from: { artifact_id } })
  const protectors = async () =>
    (await forge.call<Artifact>('GET', `/api/artifacts/${artifact_id}`)).body.protected_by
  await until('the job is projected', 20_000, async () => (await protectors()).length === 1)
  // People submit no jobs of this kind.
  await forge.pool.query(`update read.jobs set kind = 'serve' where run_id = $1`, [run_id])
  t.deepEqual(await protectors(), [])
})

test("an administrator's dry run changes nothing, and the real run does exactly the announced deletions, once", async t => {
  t.timeout(patient(120_000))
  const forge = await shared()
  const project = 'retained'
  const stranger = await signedIn(forge, 'oscar')
  const call = async (body: object, token = forge.token) =>
    forge.call<RetentionReport>('POST', '/api/admin/retention', {
      body: { project, ...body },
      token,
    })
  const runs = [await createRun(forge, project), await createRun(forge, project)]
  for (const run of runs) {
    const { store, register } = storing(forge, run)
    for (const step of [1, 2, 3])
      await store(Buffer.from(`${run.run_id} ${step}`), `f${step}`, step)
    await register({ path: 's3://b/old', step: 0 })
    await register({ path: 's3://b/report', kind: 'eval_report', step: 0 })
  }
  const jobs = await jobsWithCheckpoints(forge)
  const { body: listed } = await forge.call<Artifact[]>(
    'GET',
    `/api/runs/${runs[0]?.run_id}/artifacts?kind=checkpoint`,
  )
  const used = listed.find(({ step }) => step === 2) as Artifact
  await jobs.submit('others', { init_from: { artifact_id: used.artifact_id } })

  t.is((await call({}, stranger)).status, 403)
  const nowhere = await call({ project: 'nowhere' })
  t.is(nowhere.status, 400, JSON.stringify(nowhere.body))
  t.is((await call({ after: 'a/b' })).status, 400)
  const bare = await forge.call<RetentionReport>('POST', '/api/admin/retention')
  t.is(bare.body.dry_run, true, 'nothing is deleted by a request that does not ask for it')
  t.deepEqual((await call({})).body.runs, [], 'runs without rules stay unchanged')
  const keep = { latest: 1 }
  t.is((await call({ keep, older_than_days: 1 })).body.artifacts, 0, 'none is that old')
  const dry = (await call({ keep })).body
  t.is(dry.dry_run, true)
  t.is(dry.artifacts, 5)
  t.deepEqual(
    dry.runs.map(({ artifacts }) => artifacts.map(({ step, bytes }) => [step, bytes])),
    [
      [
        [0, 'left'],
        [1, 'stored'],
      ],
      [
        [0, 'left'],
        [1, 'stored'],
        [2, 'stored'],
      ],
    ],
  )
  t.deepEqual(
    dry.runs.map(({ kept, protected_total }) => [kept, protected_total]),
    [
      [1, 1],
      [1, 0],
    ],
  )
  t.like(dry.runs[0]?.protected[0], { step: 2, protected_by: [{ type: 'init_from' }] })
  t.deepEqual(await stepsOf(forge, String(runs[0]?.run_id), '?kind=checkpoint'), [3, 2, 1, 0])
  t.deepEqual((await call({ keep })).body, dry, 'nothing has changed')

  const done = (await call({ keep, dry_run: false })).body
  t.deepEqual({ ...done, dry_run: true }, dry)
  t.true(done.freed_bytes > 0)
  for (const { artifacts } of done.runs)
    for (const { artifact_id } of artifacts)
      t.is((await untilIs(forge, artifact_id, 'deleted')).deleted_by, 'admin')
  const again = (await call({ keep, dry_run: false })).body
  t.like(again, { artifacts: 0, freed_bytes: 0 })
  t.deepEqual(await stepsOf(forge, String(runs[1]?.run_id), '?kind=checkpoint'), [3])
})

test('a call that has reached its limit says where the next one continues', async t => {
  t.timeout(patient(120_000))
  const forge = await shared()
  const { register } = storing(forge, await createRun(forge, 'many'))
  const count = retentionLimits.artifacts + 3
  for (let step = 0; step < count; step += 20)
    await Promise.all(
      Array.from({ length: Math.min(20, count - step) }, (_, index) =>
        register({ path: `s3://b/${step + index}`, step: step + index }),
      ),
    )
  const call = async (body: object) => {
    const keep = { latest: 1 }
    const asked = { project: 'many', keep, ...body }
    return (await forge.call<RetentionReport>('POST', '/api/admin/retention', { body: asked })).body
  }
  for (const dry_run of [true, false]) {
    const first = await call({ dry_run })
    t.is(first.artifacts, retentionLimits.artifacts)
    const second = await call({ dry_run, after: first.next })
    t.is(second.artifacts, 2)
    t.is(second.next, null)
    const ids = [first, second].flatMap(({ runs }) =>
      runs.flatMap(({ artifacts }) => artifacts.map(one => one.artifact_id)),
    )
    t.is(new Set(ids).size, count - 1)
  }
  t.deepEqual((await call({ dry_run: false })).runs, [])
})
