import { randomUUID } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Cluster } from '../../../deploy/slurm/cluster.ts'
import type { Launch } from '../../../executor/port.ts'
import { slurmPaths } from '../../../executor/slurm/attempt-files.ts'
import { SlurmFault } from '../../../executor/slurm/rest.ts'
import { patient } from '../../servers/patience.ts'
import { until } from '../../servers/until.ts'
import { exitOf, launch, untilState } from '../attempts.ts'
import { outputOf, untilPrinted } from '../output.ts'
import { onOwnCluster, type SlurmBench, waiting } from './bench.ts'

const deaf = ['sh', '-c', "trap '' TERM; echo ready; while :; do sleep 0.1; done"]

const letGo = ({ runsDirectory }: SlurmBench, ref: string) =>
  writeFile(join(runsDirectory, ref, 'work', 'go'), '')

/**
 * Resolves once the controller has saved this job. Killed before that, it reuses the job's number, and cancels
 * the new job because a node still knows the old one.
 */
async function untilSaved(cluster: Cluster, job: string): Promise<void> {
  // It saves only changes, so it may never rewrite a job that it saved a moment ago.
  const mark = randomUUID()
  await cluster.command('scontrol', 'update', `jobid=${job}`, `admincomment=${mark}`)
  await until('the controller has saved its jobs', 60_000, async () =>
    (await readFile(join(cluster.folder, 'state', 'job_state')).catch(() => '')).includes(mark),
  )
}

const jobOf = async ({ client }: SlurmBench, { run_id }: Launch) =>
  String((await client.jobsNamed(`forge-${run_id}-1`))[0]?.id)

// A fault affects the whole cluster, so these tests run one after the other.
// Slurm soon forgets its jobs, though not before a slow machine has asked for them once.
await onOwnCluster({ minJobAgeSeconds: 30, slurmdTimeoutSeconds: 10 }, (open, cluster) => {
  const rule = (title: string, body: (t: ExecutionContext, bench: SlurmBench) => Promise<void>) =>
    test.serial(`slurm: ${title}`, async t => {
      t.timeout(patient(400_000))
      await cluster.repair()
      await body(t, await open())
    })

  rule(
    'a run continues without the controller, and its end is known without it',
    async (t, bench) => {
      const { executor } = bench
      const submitted = launch({ command: waiting, nodes: 2 })
      const ref = await executor.submit(submitted)
      // Its record may be written a moment after its first line.
      await untilState(executor, ref, 'running')
      await untilSaved(cluster, await jobOf(bench, submitted))
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

  rule(
    'a job that a killed controller forgets is submitted again, and runs once',
    async (t, bench) => {
      const { executor, scratch, client } = bench
      const file = join(scratch, 'starts')
      const submitted = launch({ command: ['sh', '-c', `echo started >> ${file}`] })
      for (const node of cluster.nodes)
        await cluster.command(
          'scontrol',
          'update',
          `nodename=${node}`,
          'state=drain',
          'reason=test',
        )
      const ref = await executor.submit(submitted)
      t.is((await executor.observe(ref)).state, 'starting')
      const controller = cluster.daemon('slurmctld')
      await controller.stop('SIGKILL')
      // As if it had not saved the job yet.
      for (const name of ['job_state', 'job_state.old'])
        await rm(join(cluster.folder, 'state', name), { force: true })
      await controller.restart()
      await until('Slurm is back', 60_000, () => client.nodes().catch(() => null))
      // Refused where the controller has forgotten that, too.
      for (const node of cluster.nodes)
        await cluster
          .command('scontrol', 'update', `nodename=${node}`, 'state=resume')
          .catch(() => {})
      const next = await bench.reopen()
      await untilState(next, ref, 'unknown')
      t.is(await next.find(submitted.run_id, 1), null)
      t.is(await next.submit(submitted), ref)
      t.like(await exitOf(next, ref), { exit_code: 0, launch_error: null })
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

  for (const [title, command] of [
    ['a run whose node fails is lost, and says which job and why', waiting],
    ['so is one that ignores the signal of Slurm, and has to be killed', deaf],
  ] as const)
    rule(title, async (t, bench) => {
      const { executor } = bench
      const ref = await executor.submit(launch({ command: [...command], nodes: 2 }))
      for (const rank of [0, 1]) await untilPrinted(executor, ref, 'ready\n', rank)
      const node = (await executor.nodes(ref))?.[1]?.node
      await cluster.command('scontrol', 'update', `nodename=${node}`, 'state=down', 'reason=test')
      const exit = await exitOf(executor, ref)
      const [job] = await bench.client.jobsNamed(`forge-${ref.replace('/', '-')}`)
      t.like(
        exit,
        { exit_code: null, signal: null, oom_killed: false },
        `Slurm says ${JSON.stringify(job)}`,
      )
      t.regex(exit.launch_error ?? '', /^Slurm job \d+: one of its nodes failed$/)
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
      await untilState(executor, ref, 'running')
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
})
