import test from 'ava'
import type { JudgingRecord } from '../../schemas/rubrics/judgings.ts'
import { deployed } from '../gateway/deployed.ts'
import { type Forge, startForgeProcess } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { startJudge } from './judge-engine.ts'

const samples = Array.from({ length: 10 }, (_, nth) => `answer ${nth}`)

test('a judging whose process is killed continues with the samples that have no outcome', async t => {
  t.timeout(patient(180_000), 'a lease has to end')
  const forge = await startForgeProcess(t)
  const engine = await startJudge(t)
  const { deployment_id } = await deployed(forge as unknown as Forge, 'judge', [engine.url])
  const run = await createRun(forge, 'serving')
  await forge.call('PUT', '/api/rubrics/admin/helpful', {
    body: { name: 'helpful', criteria: [{ name: 'clear' }] },
  })
  await ingest(forge, run, 'validation', {
    step: 10,
    samples: samples.map(assistant => ({ user: 'a question', assistant })),
  })
  const path = `/api/runs/${run.run_id}/judgings`
  const body = { rubric: 'admin/helpful', judge: deployment_id }
  let release = () => {}
  const held = new Promise<void>(resolve => {
    release = resolve
  })
  engine.answer = () => {
    if (engine.asked.length >= 4) engine.hold = held
    return '{"reason": "r", "scores": {"clear": 1}}'
  }
  await until('the round can be judged', 20_000, async () => {
    const { status } = await forge.call('POST', path, { body })
    return status === 200
  })
  const outcomes = async () => {
    const { rows } = await forge.pool.query<{ sample: string }>(
      `select sample from write.rubric_score where name = 'helpful'`,
    )
    return rows.length
  }
  await until('some are judged, and others under way', 30_000, async () => {
    return (await outcomes()) >= 4 && engine.asked.length > (await outcomes())
  })
  const before = await outcomes()
  const askedBefore = engine.asked.map(({ response }) => response)
  await forge.kill()
  release()
  engine.hold = null
  await forge.start()
  const [done] = await until('the judging has ended', 120_000, async () => {
    const { body: rows } = await forge.call<JudgingRecord[]>('GET', path)
    return rows[0]?.state === 'succeeded' && rows
  })
  t.like(done, { scored: 10, cached: 0, failed: 0, samples: 10 })
  t.is(await outcomes(), 10)
  const times = samples.map(one => engine.asked.filter(({ response }) => response === one).length)
  t.is(times.filter(count => count === 2).length, askedBefore.length - before)
  t.is(Math.max(...times), 2)
})
