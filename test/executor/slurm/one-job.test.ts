import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createSlurmClient } from '../../../executor/slurm/client.ts'
import { createRest, SlurmFault } from '../../../executor/slurm/rest.ts'
import { openSlurmExecutor } from '../../../executor/slurm/slurm-executor.ts'
import { until } from '../../servers/until.ts'
import { exitOf, launch, untilState } from '../attempts.ts'
import { fewAtOnce } from '../few-at-once.ts'
import { untilPrinted } from '../output.ts'
import { givenCommand } from '../preparations.ts'
import { killSupervisor, onSharedCluster, type SlurmBench, waiting } from './bench.ts'

await onSharedCluster((open, cluster) => {
  const rule = (title: string, body: (t: ExecutionContext, bench: SlurmBench) => Promise<void>) =>
    test(`slurm: ${title}`, t => fewAtOnce(async () => body(t, await open())))

  rule('a run whose supervisor is killed leaves nothing behind and is lost', async (t, bench) => {
    const { executor, runsDirectory } = bench
    const ref = await executor.submit(launch({ command: waiting }))
    await untilPrinted(executor, ref, 'ready\n')
    await killSupervisor(runsDirectory, ref)
    t.like(await exitOf(executor, ref), {
      exit_code: null,
      signal: null,
      launch_error: 'supervisor lost',
    })
  })

  rule(
    'a job that is cancelled in Slurm is asked to end, and ends as it says',
    async (t, bench) => {
      const { executor, client } = bench
      const submitted = launch({
        command: ['sh', '-c', "trap 'exit 4' TERM; echo ready; while :; do sleep 0.1; done"],
      })
      const ref = await executor.submit(submitted)
      await untilPrinted(executor, ref, 'ready\n')
      const [job] = await client.jobsNamed(`forge-${submitted.run_id}-1`)
      await cluster.command('scancel', '--full', '--signal=TERM', String(job?.id))
      t.like(await exitOf(executor, ref), { exit_code: 4, launch_error: null })
    },
  )

  rule('a token that Slurm refuses is reported, and nothing is decided', async (t, bench) => {
    const { executor, runsDirectory } = bench
    const ref = await executor.submit(launch({ command: waiting }))
    const client = createSlurmClient(
      createRest({ url: cluster.url, user: cluster.user, token: async () => 'a.b.c' }),
    )
    const { executor: refused } = await openSlurmExecutor({
      ...{ runsDirectory, client, partition: null, account: null, hostEnvironment: {} },
      preparationCommand: givenCommand,
      now: () => new Date(),
    })
    await t.throwsAsync(refused.capacity(), { instanceOf: SlurmFault, message: /uthenti|token/ })
    await t.throwsAsync(refused.submit(launch({ command: ['true'] })), { instanceOf: SlurmFault })
    await untilState(executor, ref, 'running')
    await executor.stop(ref, { grace_s: 0, force: true })
    await exitOf(executor, ref)
  })

  rule('a submit whose response is lost has happened once', async (t, bench) => {
    const { client, scratch } = bench
    const file = join(scratch, 'starts')
    const submitted = launch({ command: ['sh', '-c', `echo started >> ${file}`] })
    await bench.submitUnheard(submitted)
    const next = await bench.reopen()
    const ref = `${submitted.run_id}/1`
    t.is(await next.find(submitted.run_id, 1), ref)
    t.is(await next.submit(submitted), ref)
    t.like(await exitOf(next, ref), { exit_code: 0 })
    t.is(await readFile(file, 'utf8'), 'started\n')
    t.is((await client.jobsNamed(`forge-${submitted.run_id}-1`)).length, 1)
  })

  rule('a submit that reaches Slurm late starts nothing', async (t, bench) => {
    const { client, runsDirectory, scratch } = bench
    const file = join(scratch, 'starts')
    const submitted = launch({ command: ['sh', '-c', `echo started >> ${file}`] })
    let send = async () => {}
    const { executor: cut } = await openSlurmExecutor({
      ...{ runsDirectory, partition: null, account: null, hostEnvironment: {} },
      preparationCommand: givenCommand,
      now: () => new Date(),
      client: {
        ...client,
        async submit(job) {
          send = async () => void (await client.submit(job))
          throw new SlurmFault('the connection broke')
        },
      },
    })
    await t.throwsAsync(cut.submit(submitted), { message: 'the connection broke' })
    const next = await bench.reopen()
    t.is(await next.find(submitted.run_id, 1), null)
    await send()
    const ref = await next.submit(submitted)
    t.like(await exitOf(next, ref), { exit_code: 0 })
    await until('both jobs are over', 60_000, async () =>
      (await client.jobsNamed(`forge-${submitted.run_id}-1`)).every(({ states }) =>
        states.includes('COMPLETED'),
      ),
    )
    t.is(await readFile(file, 'utf8'), 'started\n')
  })

  rule('no secret is in the job, its script, or a file after it was read', async (t, bench) => {
    const { executor, runsDirectory } = bench
    const secret = 'fit_sekret_of_the_run'
    const submitted = launch({ command: waiting, env: { SERVICE_TOKEN: secret }, nodes: 2 })
    const ref = await executor.submit(submitted)
    for (const rank of [0, 1]) await untilPrinted(executor, ref, 'ready\n', rank)
    const [job] = await bench.client.jobsNamed(`forge-${submitted.run_id}-1`)
    const shown = await cluster.command('scontrol', '-dd', 'show', 'job', String(job?.id))
    const script = await cluster.command('scontrol', 'write', 'batch_script', String(job?.id), '-')
    t.false(`${shown}${script}`.includes(secret))
    t.true(script.includes(join(runsDirectory, ref)))
    t.deepEqual(await filesWith(secret, join(runsDirectory, ref)), [])
    await executor.stop(ref, { grace_s: 0, force: true })
    await exitOf(executor, ref)
  })

  rule('no secret stays in the files of an attempt that never started', async (t, bench) => {
    const { client, runsDirectory } = bench
    const secret = 'fit_sekret_of_the_run'
    const submitted = launch({ command: waiting, env: { SERVICE_TOKEN: secret }, nodes: 2 })
    const { executor: cut } = await openSlurmExecutor({
      ...{ runsDirectory, partition: null, account: null, hostEnvironment: {} },
      preparationCommand: givenCommand,
      now: () => new Date(),
      client: {
        ...client,
        async submit() {
          throw new SlurmFault('the connection broke')
        },
      },
    })
    const ref = `${submitted.run_id}/1`
    for (let turn = 1; turn <= 2; turn++)
      await t.throwsAsync(cut.submit(submitted), { message: 'the connection broke' })
    t.is((await filesWith(secret, join(runsDirectory, ref))).length, 4)
    await cut.stop(ref, { grace_s: 0, force: true })
    t.like(await exitOf(cut, ref), { launch_error: 'stopped before it was started' })
    t.deepEqual(await filesWith(secret, join(runsDirectory, ref)), [])
  })
})

async function filesWith(text: string, directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
  const texts = await Promise.all(files.map(file => readFile(file, 'utf8')))
  return files.filter((_, index) => texts[index]?.includes(text))
}
