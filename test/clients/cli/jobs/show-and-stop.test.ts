import test, { type ExecutionContext } from 'ava'
import { asExecutor } from '../../../servers/as-executor.ts'
import { commandLine } from '../../../servers/command-line.ts'
import { createRun, ingest } from '../../../servers/runs.ts'
import { forgeWithSpare } from '../../../servers/spare.ts'
import { until } from '../../../servers/until.ts'

async function begin(t: ExecutionContext) {
  // Jobs stay queued, so that they can be stopped at any time.
  const forge = await forgeWithSpare(t)
  const line = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const submit = (...more: string[]) =>
    line.run([
      ...[
        'submit',
        '--recipe',
        'digits',
        '--project',
        'demo',
        '--set',
        'spec.resources.profile=spare',
      ],
      ...more,
    ])
  return { forge, ...line, submit }
}

test('show prints everything known about a run, with and without a job', async t => {
  const { forge, run, submit } = await begin(t)
  t.is((await submit('--param', 'lr=0.25')).code, 0)
  const job = await run(['show', 'demo-1'])
  t.is(job.code, 0, job.stderr)
  for (const text of [
    /^demo-1 {2}queued/,
    /recipe +digits@1\.0\.0/,
    /parameters of the job\n(.*\n)*.*lr +0\.25/,
  ])
    t.regex(job.stdout, text)

  const external = await createRun(forge)
  await ingest(forge, external, 'hparams', { params: { optimizer: 'adam', lr: 0.5 } })
  const tag = { key: 'team', value: 'r\u001b[2Jl' }
  await ingest(forge, external, 'mlflow/api/2.0/mlflow/runs/set-tag', tag)
  await ingest(forge, external, 'metrics', { points: [{ key: 'loss', step: 7, value: 2.5 }] })
  const shown = await until('all reports can be read', 60_000, async () => {
    const told = await run(['show', external.short_id])
    return [/loss/, /optimizer/, /labels/].every(one => one.test(told.stdout)) && told
  })
  t.regex(shown.stdout, /hyperparameters\n.*NAME +VALUE\n +lr +0\.5\n +optimizer +adam/)
  t.regex(shown.stdout, /labels\n.*NAME +VALUE\n +team +r\\x1b\[2Jl\n/)
  t.regex(shown.stdout, /loss +2\.5 +2\.5 +2\.5 +7 +1/)
  t.true(shown.stdout.includes(`${forge.url}/runs/${external.run_id}`))
  const json = JSON.parse((await run(['show', external.run_id, '--json'])).stdout)
  t.like(json, { run: { hparams: { lr: 0.5 }, labels: { team: tag.value } }, job: null })
  t.regex((await run(['alerts', external.short_id])).stderr, /There was no alert/)
  await ingest(forge, external, 'alert', { title: 'Reward collapsed', level: 'error' })
  const alerted = await until('the alert can be read', 60_000, async () => {
    const told = await run(['show', external.short_id])
    return told.stdout.includes('Reward collapsed') && told
  })
  t.regex(alerted.stdout, /alerts\n.*STATE +LEVEL +ALERT.*\n +noted +error +Reward collapsed/)
  const [alert] = JSON.parse((await run(['alerts', external.short_id, '--json'])).stdout)
  t.like(alert, { title: 'Reward collapsed', rule: 'code', state: 'noted' })
  t.regex((await run(['alerts', external.short_id, '--open'])).stderr, /No alert is open/)
  t.is((await run(['show', 'demo-99'])).code, 3)

  const listed = await run(['ps'])
  t.regex(listed.stdout, /^RUN +STATE .*NAME +AGE/)
  t.regex(listed.stdout, /demo-1 .* digits +\d+[sm] /)
})

test('a job that failed says why at the end of submit --follow, and in show', async t => {
  const { forge, run, submit } = await begin(t)
  const executor = asExecutor(forge.pool)
  const failing = async () => {
    const [row] = await until('the job is queued', 60_000, async () => {
      const { body } = await forge.call<{ run_id: string }[]>('GET', '/api/jobs?state=queued')
      return body.length > 0 ? body : null
    })
    const run_id = row?.run_id ?? ''
    const at = new Date().toISOString()
    await executor.schedule(run_id, [])
    await executor.executorRunning(run_id, 1, at)
    const exit = { exit_code: null, signal: 'SIGSEGV', oom_killed: false, launch_error: null }
    await executor.exited(run_id, 1, { started_at: at, exit: { ...exit, ended_at: at } })
  }
  const [followed] = await Promise.all([submit('--follow'), failing()])
  t.is(followed.code, 1, followed.stderr)
  t.regex(followed.stdout, /\ndemo-1 failed \(exit_code\) after .*\n {2}ended by SIGSEGV\n/)
  t.regex((await run(['show', 'demo-1'])).stdout, /\n +why +ended by SIGSEGV\n/)
  const { run: record } = JSON.parse((await run(['show', 'demo-1', '--json'])).stdout)
  t.like(record, { signal: 'SIGSEGV', exit_code: null, end_reason: 'exit_code' })
})

test('stop accepts several runs, with or without a job, and reports which failed', async t => {
  const { forge, run, submit } = await begin(t)
  await submit()
  await submit()
  const external = await createRun(forge)
  await ingest(forge, external, 'lifecycle', { event: 'running' })
  const stopped = await run(['stop', 'demo-1', 'demo-2', external.short_id, '--force', '--json'])
  t.is(stopped.code, 0, stopped.stderr)
  const states = stopped.stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line).state)
  t.deepEqual(states.sort(), ['stopped', 'stopped', 'stopped'])
  await submit()
  const mixed = await run(['stop', 'demo-1', 'demo-4', 'demo-99', external.short_id])
  t.is(mixed.code, 5)
  t.regex(mixed.stderr, /3 of 4 were not stopped\n.*demo-1: .*\n.*demo-99: .*\n.*demo-3: /)
  t.regex(mixed.stdout, /^run_\w+ stopped\n$/)
})

test('a mistyped parameter or key is refused with the likely spelling', async t => {
  const { submit } = await begin(t)
  const parameter = await submit('--param', 'epohcs=3')
  t.is(parameter.code, 3)
  t.regex(parameter.stderr, /epohcs: did you mean epochs\?\n(.*\n)* +batch_size +integer/)
  const key = await submit('--set', 'spec.resources.gpus_per_nod=1')
  t.is(key.code, 2)
  t.regex(key.stderr, /did you mean spec\.resources\.gpus_per_node\?/)
})
