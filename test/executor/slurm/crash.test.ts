import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { slurmPaths } from '../../../executor/slurm/attempt-files.ts'
import { createSlurmClient } from '../../../executor/slurm/client.ts'
import { createRest, SlurmFault } from '../../../executor/slurm/rest.ts'
import { openSlurmExecutor } from '../../../executor/slurm/slurm-executor.ts'
import { until } from '../../servers/until.ts'
import { exitOf, launch, untilState } from '../attempts.ts'
import { outputOf, untilPrinted } from '../output.ts'
import { killSupervisor, onCluster, type SlurmBench } from './bench.ts'

/** Waits for a line in a file of its working folder, and ends with 9. */
const waiting = ['sh', '-c', 'echo ready; until [ -e go ]; do sleep 0.1; done; exit 9']

const letGo = ({ runsDirectory }: SlurmBench, ref: string) =>
  writeFile(join(runsDirectory, ref, 'work', 'go'), '')

/**
 * Resolves once the controller has saved the jobs that there are. Killed before that, it gives their numbers out again, and
 * cancels the new jobs because a node still knows the old ones.
 */
async function untilSaved({ cluster }: SlurmBench): Promise<void> {
  const nowMs = Date.now()
  await until('the controller has saved its jobs', 60_000, async () => {
    const { mtimeMs } = await stat(join(cluster.folder, 'state', 'job_state')).catch(() => ({
      mtimeMs: 0,
    }))
    return mtimeMs > nowMs
  })
}

// What breaks the cluster breaks it for all: one after the other.
await onCluster({ minJobAgeSeconds: 2, slurmdTimeoutSeconds: 10 }, (open, cluster) => {
  const rule = (title: string, body: (t: ExecutionContext, bench: SlurmBench) => Promise<void>) =>
    test.serial(`slurm: ${title}`, async t => {
      t.timeout(400_000)
      await cluster.repair()
      await body(t, await open())
    })

  rule(
    'a run continues without the controller, and its end is known without it',
    async (t, bench) => {
      const { executor } = bench
      const ref = await executor.submit(launch({ command: waiting, nodes: 2 }))
      await untilPrinted(executor, ref, 'ready\n')
      await untilSaved(bench)
      const controller = cluster.daemon('slurmctld')
      await controller.stop('SIGKILL')
      const next = await bench.reopen()
      t.is((await next.observe(ref)).state, 'running')
      await letGo(bench, ref)
      t.like(await exitOf(next, ref), { exit_code: 9, signal: null, launch_error: null })
      await controller.restart()
    },
  )

  rule(
    'a submit without the controller fails, and starts the run once when it is repeated',
    async (t, bench) => {
      const { executor, scratch } = bench
      const file = join(scratch, 'starts')
      const submitted = launch({ command: ['sh', '-c', `echo started >> ${file}`] })
      const controller = cluster.daemon('slurmctld')
      await controller.stop('SIGKILL')
      await t.throwsAsync(executor.submit(submitted), { instanceOf: SlurmFault })
      await t.throwsAsync(executor.find(submitted.run_id, 1), { instanceOf: SlurmFault })
      await controller.restart()
      await until('Slurm is back', 60_000, () => bench.client.nodes().catch(() => null))
      const again = await bench.reopen()
      const ref = (await again.find(submitted.run_id, 1)) ?? (await again.submit(submitted))
      t.like(await exitOf(again, ref), { exit_code: 0 })
      t.is(await readFile(file, 'utf8'), 'started\n')
    },
  )

  rule('a run continues when the daemon of its node is killed', async (t, bench) => {
    const { executor } = bench
    const ref = await executor.submit(launch({ command: waiting }))
    await untilState(executor, ref, 'running')
    const [{ node = '' } = {}] = (await executor.nodes(ref)) ?? []
    const daemon = cluster.daemon(`slurmd ${node}`)
    await daemon.stop('SIGKILL')
    await daemon.restart()
    t.is((await (await bench.reopen()).observe(ref)).state, 'running')
    await letGo(bench, ref)
    t.like(await exitOf(executor, ref), { exit_code: 9, launch_error: null })
  })

  rule('a run whose node fails is lost, and says which job and why', async (t, bench) => {
    const { executor } = bench
    const ref = await executor.submit(launch({ command: waiting, nodes: 2 }))
    for (const rank of [0, 1]) await untilPrinted(executor, ref, 'ready\n', rank)
    const node = (await executor.nodes(ref))?.[1]?.node
    await cluster.command('scontrol', 'update', `nodename=${node}`, 'state=down', 'reason=test')
    const exit = await exitOf(executor, ref)
    t.like(exit, { exit_code: null, signal: null, oom_killed: false })
    t.regex(exit.launch_error ?? '', /^Slurm job \d+: a node of it failed$/)
    const seen = await executor.observe(ref)
    t.true(seen.state === 'exited' && seen.started_at !== null)
  })

  rule('the end of a job that Slurm has forgotten is known', async (t, bench) => {
    const { executor, client, runsDirectory } = bench
    const submitted = launch({ command: ['sh', '-c', 'echo done; exit 11'] })
    const ref = await executor.submit(submitted)
    const { job_id } = JSON.parse(
      await readFile(slurmPaths(join(runsDirectory, ref)).job(1), 'utf8'),
    )
    // Slurm looks for jobs to forget every half minute.
    await until('Slurm has forgotten it', 150_000, async () => (await client.job(job_id)) === null)
    const next = await bench.reopen()
    t.like(await exitOf(next, ref), { exit_code: 11, launch_error: null })
    t.is(String((await outputOf(next, ref)).stdout), 'done\n')
  })

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

  rule('a stop reaches a job that waits in the queue of Slurm', async (t, bench) => {
    const { executor, client } = bench
    for (const node of cluster.nodes)
      await cluster.command('scontrol', 'update', `nodename=${node}`, 'state=drain', 'reason=test')
    t.is((await executor.capacity()).gpus, 0)
    const submitted = launch({ command: waiting })
    const ref = await executor.submit(submitted)
    t.is((await executor.observe(ref)).state, 'starting')
    await executor.stop(ref, { grace_s: 60, force: false })
    const seen = await executor.observe(ref)
    t.like(seen, { state: 'exited', started_at: null })
    t.is(seen.state === 'exited' && seen.exit.launch_error, 'stopped before it was started')
    const [job] = await client.jobsNamed(`forge-${submitted.run_id}-1`)
    t.true(job === undefined || job.states.includes('CANCELLED'))
  })

  rule(
    'without slurmrestd runs are seen to run, and nothing is decided of the others',
    async (t, bench) => {
      const { executor } = bench
      const ref = await executor.submit(launch({ command: waiting }))
      await untilPrinted(executor, ref, 'ready\n')
      const rest = cluster.daemon('slurmrestd')
      await rest.stop('SIGKILL')
      const next = await bench.reopen()
      t.is((await next.observe(ref)).state, 'running')
      await t.throwsAsync(next.capacity(), { instanceOf: SlurmFault, message: /cannot be reached/ })
      await t.throwsAsync(next.submit(launch({ command: ['true'] })), { instanceOf: SlurmFault })
      await next.stop(ref, { grace_s: 0, force: true })
      t.like(await exitOf(next, ref), { signal: 'SIGKILL' })
      await rest.restart()
      await until('Slurm is back', 60_000, () => bench.client.nodes().catch(() => null))
    },
  )

  rule('a token that Slurm refuses is said, and nothing is decided', async (t, bench) => {
    const { executor, runsDirectory } = bench
    const ref = await executor.submit(launch({ command: waiting }))
    const client = createSlurmClient(
      createRest({ url: cluster.url, user: cluster.user, token: async () => 'a.b.c' }),
    )
    const refused = await openSlurmExecutor({
      ...{ runsDirectory, client, partition: null, account: null, hostEnvironment: {} },
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
    const cut = await openSlurmExecutor({
      ...{ runsDirectory, partition: null, account: null, hostEnvironment: {} },
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
    const files = await readdir(join(runsDirectory, ref), { recursive: true, withFileTypes: true })
    for (const file of files.filter(one => one.isFile()))
      t.false(
        (await readFile(join(file.parentPath, file.name), 'utf8')).includes(secret),
        file.name,
      )
    await executor.stop(ref, { grace_s: 0, force: true })
    await exitOf(executor, ref)
  })
})
