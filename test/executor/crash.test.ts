import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import {
  attemptPaths,
  type LaunchRecord,
  type StartedRecord,
} from '../../executor/attempts/attempt-directory.ts'
import { readJson, writeDurably } from '../../executor/attempts/durable-json.ts'
import { bootId, identify } from '../../executor/attempts/process-identity.ts'
import { prepareAttempt } from '../../executor/local/prepare-attempt.ts'
import { startSupervisor } from '../../executor/node/start-supervisor.ts'
import { until } from '../servers/until.ts'
import { commandLinesWith, exitOf, launch, untilState } from './attempts.ts'
import { openAt } from './bench.ts'
import { claimOf, kill9, killSupervisor, server } from './doomed.ts'
import { localBench } from './local-bench.ts'
import { outputOf, untilPrinted } from './output.ts'
import { survivalRules } from './survival.ts'

survivalRules('none')

/** Prepared now, for a run without its own user. */
const asOf = { now: new Date(), id: null }

test('a server killed at any moment of a submit starts the command once, even if another server repeats it', async t => {
  const { runsDirectory, reopen, scratch } = await localBench(t)
  for (let trial = 0; trial < 16; trial++) {
    const file = path.join(scratch, `trial-${trial}`)
    const submitted = launch({ command: ['sh', '-c', `echo started >> ${file}; exit 4`] })
    const doomed = await server('none', runsDirectory, submitted, 'open')
    // A submit takes about 100 ms; the moments are spread over it.
    await delay(trial * 8)
    await kill9(doomed)
    const executor = await reopen()
    const ref = await executor.submit(submitted)
    t.like(await exitOf(executor, ref), { exit_code: 4, launch_error: null })
    t.is(await readFile(file, 'utf8'), 'started\n')
  }
})

test('a submit cut short before the start leaves nothing behind and can be repeated', async t => {
  const { runsDirectory, executor } = await localBench(t)
  const submitted = launch({ command: ['sh', '-c', 'exit 6'] })
  await prepareAttempt(
    runsDirectory,
    { launch: { ...submitted, command: ['false'] }, preparation: null },
    asOf,
  )
  const ref = `${submitted.run_id}/1`
  t.is(await executor.find(submitted.run_id, 1), null)
  t.deepEqual(await executor.observe(ref), { state: 'unknown' })
  t.is(await executor.submit(submitted), ref)
  t.is(await executor.find(submitted.run_id, 1), ref)
  t.like(await exitOf(executor, ref), { exit_code: 6 })
})

test('a disk that fills up just after the claim delays the start, but loses nothing', async t => {
  const { runsDirectory, executor } = await localBench(t)
  const submitted = launch({ command: ['sh', '-c', 'exit 6'] })
  const paths = await prepareAttempt(runsDirectory, { launch: submitted, preparation: null }, asOf)
  t.is(await executor.find(submitted.run_id, 1), null)
  // No record can take the place of a folder.
  const { reach } = paths.rank(0)
  await mkdir(reach)
  const ref = await executor.submit(submitted)
  const said = () => readFile(paths.supervisorLog, 'utf8').catch(() => '')
  await until('the supervisor has tried', 30_000, async () => /EISDIR/.test(await said()))
  t.deepEqual(await executor.observe(ref), { state: 'starting' })
  await rmdir(reach)
  t.like(await exitOf(executor, ref), { exit_code: 6, launch_error: null })
})

test('output files with a time in the future do not prove that the run will be alive then', async t => {
  const { runsDirectory, executor } = await localBench(t)
  const command = ['sh', '-c', 'touch -d 2099-01-01 /dev/stdout; echo ready >&2; exec sleep 600']
  const ref = await executor.submit(launch({ command }))
  const stderr = async () => (await outputOf(executor, ref)).stderr.toString()
  await until('it has changed the time', 30_000, async () => (await stderr()) === 'ready\n')
  // As after the loss of a machine, which kills both.
  const started = await readJson<StartedRecord>(attemptPaths(path.join(runsDirectory, ref)).started)
  await killSupervisor(runsDirectory, ref)
  if (started) process.kill(-started.leader.pid, 'SIGKILL')
  const { ended_at } = await exitOf(executor, ref)
  t.true(Date.parse(ended_at) <= Date.now(), ended_at)
})

test('a late supervisor of an abandoned submit starts nothing', async t => {
  const { runsDirectory, executor, scratch } = await localBench(t)
  const file = path.join(scratch, 'starts')
  const submitted = launch({ command: ['sh', '-c', `echo $WHOSE >> ${file}`] })
  const paths = await prepareAttempt(runsDirectory, { launch: submitted, preparation: null }, asOf)
  t.is(await executor.find(submitted.run_id, 1), null)
  const env = { PATH: process.env.PATH ?? '', WHOSE: 'late' }
  const ranks = [{ env, enclosure: null }]
  const late = { ranks, preparation_env: {}, preparation_input: '', turn: 1 }
  await startSupervisor(paths, late, path.join(runsDirectory, '.code-cache'))
  const ref = await executor.submit({ ...submitted, env: { WHOSE: 'newest' } })
  await startSupervisor(paths, late, path.join(runsDirectory, '.code-cache'))
  t.like(await exitOf(executor, ref), { exit_code: 0 })
  t.is(await readFile(file, 'utf8'), 'newest\n')
})

test('a submit waits for a submit by another living server, but not indefinitely', async t => {
  const { runsDirectory, executor } = await localBench(t)
  const submitted = launch({ command: ['true'] })
  const ref = `${submitted.run_id}/1`
  const paths = await prepareAttempt(runsDirectory, { launch: submitted, preparation: null }, asOf)
  const record = await readJson<LaunchRecord>(paths.launch)
  await writeDurably(paths.launch, { ...record, submitter: identify(process.ppid) })
  t.deepEqual(await executor.observe(ref), { state: 'starting' })
  const later = await openAt(runsDirectory, {
    now: () => new Date(Date.now() + 10 * 60_000),
  })
  t.deepEqual(await later.observe(ref), { state: 'unknown' })
})

test('attempts with records from before several nodes were supported continue', async t => {
  const { runsDirectory, executor, reopen, scratch } = await localBench(t)
  const go = path.join(scratch, 'go')
  const script = `echo up; until [ -e ${go} ]; do sleep 0.05; done; echo done; exit 4`
  const refs = await Promise.all(
    [1, 2].map(() => executor.submit(launch({ command: ['sh', '-c', script] }))),
  )
  for (const ref of refs) {
    await untilPrinted(executor, ref, 'up\n')
    await untilState(executor, ref, 'running')
    const { launch: launched, started } = attemptPaths(path.join(runsDirectory, ref))
    const { nodes, gpu_indexes, ...record } = (await readJson<LaunchRecord>(launched)) ?? {}
    const { others, ...leader } = (await readJson<StartedRecord>(started)) ?? {}
    t.deepEqual([nodes, gpu_indexes, others], [1, [], []])
    await writeDurably(launched, record)
    await writeDurably(started, leader)
  }
  const [first = '', second = ''] = refs
  const later = await reopen()
  t.deepEqual(await later.nodes(first), [{ node: 'local', rank: 0, gpu_indexes: [] }])
  await killSupervisor(runsDirectory, second)
  t.like(await exitOf(later, second), { exit_code: null, launch_error: 'supervisor lost' })
  await writeFile(go, '')
  t.like(await exitOf(later, first), { exit_code: 4 })
  t.is(String((await outputOf(later, first)).stdout), 'up\ndone\n')
  t.is(String((await outputOf(later, second)).stdout), 'up\n')
})

test('an attempt stopped before anybody started it never starts', async t => {
  const { runsDirectory, executor } = await localBench(t)
  const submitted = launch({ command: ['true'] })
  await prepareAttempt(runsDirectory, { launch: submitted, preparation: null }, asOf)
  const ref = `${submitted.run_id}/1`
  await executor.stop(ref, { grace_s: 10, force: false })
  t.like(await executor.observe(ref), { state: 'exited', started_at: null })
  await executor.submit(submitted)
  t.like(await executor.observe(ref), { state: 'exited', started_at: null })
})

test('a supervisor survives the signals that end a service', async t => {
  const { runsDirectory, executor } = await localBench(t)
  const ref = await executor.submit(
    launch({ command: ['sh', '-c', 'echo up; read line < /dev/zero'] }),
  )
  await untilPrinted(executor, ref, 'up\n')
  const pid = (await claimOf(runsDirectory, ref))?.supervisor?.pid ?? 0
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(pid, signal)
  await executor.stop(ref, { grace_s: 5, force: false })
  t.like(await exitOf(executor, ref), { signal: 'SIGTERM', launch_error: null })
})

test('after a reboot a run has ended at its last proof of life, and no process is touched', async t => {
  const { runsDirectory, executor } = await localBench(t)
  const ref = await executor.submit(launch({ command: ['sleep', '60'] }))
  await untilState(executor, ref, 'running')
  const file = attemptPaths(path.join(runsDirectory, ref)).claim(1)
  const before = await claimOf(runsDirectory, ref)
  const supervisor = before?.supervisor
  if (!supervisor) throw new Error('not claimed')
  t.is(supervisor.boot_id, bootId())
  await writeFile(
    file,
    JSON.stringify({ ...before, supervisor: { ...supervisor, boot_id: 'other' } }),
  )
  const exit = await exitOf(executor, ref)
  t.is(exit.launch_error, 'supervisor lost: the machine restarted')
  t.true(Date.parse(exit.ended_at) <= Date.now())
  t.notThrows(() => process.kill(supervisor.pid, 0))
  await executor.stop(ref, { grace_s: 0, force: true })
  await until(
    'the supervisor is gone',
    50_000,
    async () => (await commandLinesWith(ref)).length === 0,
  )
})

test('a supervisor is small', async t => {
  const { runsDirectory, executor } = await localBench(t)
  const first = await executor.submit(launch({ command: ['true'] }))
  await exitOf(executor, first)
  const ref = await executor.submit(launch({ command: ['sleep', '60'] }))
  await untilState(executor, ref, 'running')
  const pid = (await claimOf(runsDirectory, ref))?.supervisor?.pid
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
  const kb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(rollup)?.[1])
  t.log(`resident ${kb('Rss')} kB, of which its own ${kb('Anonymous')} kB`)
  t.true(kb('Anonymous') < 20_000, 'not shared with other Node processes')
  await executor.stop(ref, { grace_s: 0, force: true })
  await exitOf(executor, ref)
})
