import test from 'ava'
import { report } from '../../command-api/jobs/decide.ts'
import { createQueueBook } from '../../command-api/jobs/queue-book.ts'
import { jobsWithExecutor } from './jobs-with-executor.ts'

test('the estimate of a job is the median usage of successful runs of its recipe', async t => {
  const at = await jobsWithExecutor(t)
  await at.pool.query('update write.profile set price_per_gpu_hour = 3')
  await at.pool.query(`insert into write.quota (username, max_concurrent_jobs) values ('ada', 50)`)
  t.is((await at.submit()).estimate, null)

  const began = at.now()
  const told = { attempt: 1, phase: null, exit_code: null, message: null }
  const play = async (hours: number, event: 'succeeded' | 'failed') => {
    const { run_id } = await at.submit()
    await at.commands.schedule(run_id, [0])
    const ended_at = new Date(began.getTime() + hours * 3_600_000).toISOString()
    await at.change(run_id, job =>
      report(job, { ...told, event: 'running', at: began.toISOString() }),
    )
    await at.change(run_id, job => report(job, { ...told, event, at: ended_at }))
    await at.commands.exited(run_id, 1, {
      started_at: began.toISOString(),
      exit: { exit_code: 0, signal: null, oom_killed: false, launch_error: null, ended_at },
    })
  }
  for (const hours of [1, 2, 30]) await play(hours, 'succeeded')
  await play(100, 'failed')
  const { estimate } = await at.submit()
  t.like(estimate, { gpu_hours: '2.00', cost: '6.00', currency: 'USD' })
  t.regex(String(estimate?.basis), /^last 3 \S+@\d+\.\d+ runs$/)
  t.like((await at.submit({ limits: { max_duration_s: 3600 } })).estimate, {
    gpu_hours: '1.00',
    basis: 'limits.max_duration_s: 3600',
  })

  const warned = async (hours: number) =>
    (await at.submit({ limits: { max_duration_s: hours * 3600 } })).admission.warnings.find(
      ({ code }) => code === 'cost_above_history',
    )?.detail
  t.is(await warned(4), undefined)
  t.regex(
    String(await warned(5)),
    /^limits.max_duration_s allows 5.00 GPU-hours; the last 3 \S+ runs used 2.00 \(median\)$/,
  )
})

test('a profile whose executor is not installed causes a warning', async t => {
  const at = await jobsWithExecutor(t)
  const warned = async () =>
    (await at.submit()).admission.warnings.find(({ code }) => code === 'executor_not_configured')
      ?.detail
  t.is(await warned(), undefined)
  await at.pool.query(`update write.profile set executor = 'kubernetes'`)
  t.regex(String(await warned()), /starts jobs on kubernetes, which this installation is not/)
})

test('a job that must wait gets a warning about idle profiles that would take it', async t => {
  const at = await jobsWithExecutor(t)
  await at.pool.query(`insert into write.quota (username, max_concurrent_jobs) values ('ada', 50)`)
  const [own] = (await at.pool.query('select name, series, gpus_per_node from write.profile')).rows
  const another = async (name: string, series: string, gpus: number) =>
    at.pool.query(
      `insert into write.profile
       select (jsonb_populate_record(p, jsonb_build_object('name', $2::text, 'series', $3::text, 'gpus_per_node', $4::int))).*
         from write.profile p where name = $1`,
      [own.name, name, series, gpus],
    )
  await another('view', own.series, own.gpus_per_node)
  await another('spare', 'spare', own.gpus_per_node)
  await another('small', 'small', 1)
  const all = { resources: { gpus_per_node: own.gpus_per_node, profile: own.name } }
  const warned = async (spec: Record<string, unknown>) =>
    (await at.submit(spec)).admission.warnings.find(({ code }) => code === 'profile_idle')?.detail

  t.is(await warned(all), undefined)
  // A profile sharing the same GPUs does not help, nor does one with too few.
  t.is(
    await warned(all),
    `${own.name} has no room for ${own.gpus_per_node} GPUs now; spare is idle and would accept the job (spec.resources.profile)`,
  )
  t.is(await warned({ resources: { ...all.resources, series: own.series } }), undefined)
  await at.pool.query(`update write.quota set allowed_profiles = array[$1]`, [own.name])
  t.is(await warned(all), undefined)
  await at.pool.query(`update write.quota set allowed_profiles = '{}'`)
  await at.pool.query(`update write.quota set per_series = '{"spare": {"max_concurrent_gpus": 1}}'`)
  t.is(await warned(all), undefined, 'its quota for that series is too small')
  await at.pool.query(`update write.quota set per_series = '{}'`)
  const later = { scheduling: { not_before: '2099-01-01T00:00:00+00:00' } }
  t.is(await warned({ ...all, ...later }), undefined, 'it is to wait anyway')
  await at.pool.query(`update write.profile set executor = 'slurm' where name = 'spare'`)
  const { idleGpus } = createQueueBook({ ...at, failed: error => t.log(error) })
  t.true(((await idleGpus()).get('spare') ?? 0) > 0)
  await at.pool.query(
    `insert into write.drain (engine, since, drained_by) values ('slurm', now(), 'root')`,
  )
  const drained = createQueueBook({ ...at, failed: error => t.log(error) })
  t.is(
    (await drained.idleGpus()).get('spare') ?? 0,
    0,
    'nothing starts on an engine that is drained',
  )
  await at.pool.query('delete from write.drain')
  await at.pool.query(`update write.profile set executor = 'local' where name = 'spare'`)
  t.is(await warned({ resources: { ...all.resources, profile: 'spare' } }), undefined)
  t.is(await warned(all), undefined)
})
