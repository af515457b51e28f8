import test from 'ava'
import type { TeamDetail } from '../../schemas/teams.ts'
import { asExecutor } from '../servers/as-executor.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { jobsAtTimes, setPrice, withoutExecutor } from '../usage/jobs-at-times.ts'

type Refused = { detail: string; gate: string; code: string; data: object; run_id: string }
type Asked = { project: string; team?: string; gpus?: number }

async function submit(forge: Forge, token: string, { project, team, gpus = 2 }: Asked) {
  const lock = (await forge.call<object>('GET', '/api/recipes/digits/1.0.0/lock')).body
  return forge.call<Refused>('POST', '/api/jobs', {
    token,
    body: {
      api: 'forge/v2',
      metadata: { name: 'job', project, ...(team && { team }) },
      lock,
      spec: { resources: { profile: 'spare', gpus_per_node: gpus } },
    },
  })
}

test('a job must fit the quota of its submitter and the pool of its team', async t => {
  t.timeout(patient(120_000))
  const forge = await startForge(t, withoutExecutor)
  await setPrice(forge, '1')
  const [alice, bob, eve] = await Promise.all(
    ['alice', 'bob', 'eve'].map(name => signedIn(forge, name)),
  )
  if (!alice || !bob || !eve) return t.fail()
  const as = (token: string, method: string, path: string, body?: object) =>
    forge.call<Refused>(method, path, { token, ...(body && { body }) })
  await as(alice, 'POST', '/api/teams', { name: 'rl' })
  await as(alice, 'POST', '/api/teams', { name: 'other' })
  await as(alice, 'PUT', '/api/teams/rl/members/bob', { role: 'member' })
  await as(forge.token, 'PATCH', '/api/teams/rl', { pool: { max_concurrent_gpus: 4 } })

  const tooLarge = await submit(forge, alice, { project: 'a', team: 'rl', gpus: 6 })
  t.like(tooLarge, {
    status: 400,
    body: {
      ...{ gate: 'team', code: 'team.pool' },
      detail: 'Insufficient team pool: requested 6 GPUs, the pool of rl has 4, your quota 8',
      data: { requested: 6, quota: 8, pool: 4, team: 'rl' },
    },
  })
  // A team that one is not in looks like one that does not exist.
  const hidden = await submit(forge, eve, { project: 'e', team: 'rl' })
  const missing = await submit(forge, eve, { project: 'e', team: 'absent' })
  t.like(hidden, { status: 400, body: { gate: 'team', code: 'team.unknown' } })
  t.is(hidden.body.detail.replace('rl', '?'), missing.body.detail.replace('absent', '?'))

  // Two people share the pool, each within their own quota.
  const first = (await submit(forge, alice, { project: 'a', team: 'rl', gpus: 3 })).body.run_id
  const second = (await submit(forge, bob, { project: 'b', team: 'rl', gpus: 2 })).body.run_id
  const apart = (await submit(forge, bob, { project: 'b', gpus: 2 })).body.run_id
  const executor = asExecutor(forge.pool)
  t.is(await executor.schedule(first, []), 'scheduled')
  t.is(await executor.schedule(second, []), 'team_pool_in_use')
  t.is(await executor.schedule(apart, []), 'scheduled')
  await until('the job says why it waits', 20_000, async () => {
    const { body } = await forge.call<{ state_reason: string }>('GET', `/api/jobs/${second}`)
    return body.state_reason === 'team_pool_in_use'
  })
  const { body: shown } = await forge.call<TeamDetail>('GET', '/api/teams/rl', { token: bob })
  t.like(shown.use, { concurrent_gpus: 3, concurrent_jobs: 1 })

  // A project of the team counts in its pool without a word in the job, and takes no job of another team.
  await as(alice, 'PUT', '/api/projects/a/team', { team: 'rl' })
  t.like((await submit(forge, alice, { project: 'a', team: 'other' })).body, {
    code: 'team.unknown',
  })
  const third = (await submit(forge, bob, { project: 'a', gpus: 2 })).body.run_id
  t.is(await executor.schedule(third, []), 'team_pool_in_use')

  // Unfinished jobs keep the team.
  await as(alice, 'PUT', '/api/projects/a/team', { team: null })
  t.like(await as(alice, 'DELETE', '/api/teams/rl'), { status: 409, body: { code: 'team.in_use' } })

  // One job releases its share, and the next takes it.
  await jobsAtTimes(forge).exit(first, new Date().toISOString())
  t.is(await executor.schedule(second, []), 'scheduled')
  const { rows } = await forge.pool.query(
    'select held_gpus, held_jobs from write.team order by name',
  )
  t.deepEqual(rows, [
    { held_gpus: 0, held_jobs: 0 },
    { held_gpus: 2, held_jobs: 1 },
  ])
})

test('of jobs that race for the rest of a pool one gets it', async t => {
  t.timeout(patient(120_000))
  const forge = await startForge(t, withoutExecutor)
  await setPrice(forge, '1')
  await forge.call('POST', '/api/teams', { body: { name: 'rl' } })
  await forge.call('PATCH', '/api/teams/rl', { body: { pool: { max_concurrent_jobs: 1 } } })
  const jobs = await Promise.all(
    ['a', 'b', 'c'].map(project => submit(forge, forge.token, { project, team: 'rl', gpus: 1 })),
  )
  const executor = asExecutor(forge.pool)
  const outcomes = await Promise.all(jobs.map(({ body }) => executor.schedule(body.run_id, [])))
  t.deepEqual(outcomes.toSorted(), ['scheduled', 'team_pool_in_use', 'team_pool_in_use'])
})
