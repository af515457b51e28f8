import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { attemptPaths, type ClaimRecord } from '../../executor/local/attempt-directory.ts'
import { currentTurn } from '../../executor/local/claims.ts'
import { readJson } from '../../executor/local/durable-json.ts'
import type { IsolationSetting } from '../../executor/local/isolation.ts'
import type { Launch } from '../../executor/port.ts'
import { until } from '../servers/until.ts'
import { commandLinesWith, exitOf, launch } from './attempts.ts'
import { benchWith, type LocalBench } from './bench.ts'
import { outputOf, untilPrinted } from './output.ts'

export const loop = 'while :; do sleep 0.05; done'

/** A server in a process of its own, as soon as it has printed this line. */
export async function server(
  setting: IsolationSetting,
  runsDirectory: string,
  submitted: Launch,
  line: string,
  ...more: string[]
): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('executor-process.ts', import.meta.url))
  const child = spawn(
    process.execPath,
    [program, setting, runsDirectory, JSON.stringify(submitted), ...more],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let printed = ''
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', chunk => {
      printed += chunk
      if (printed.includes(`${line}\n`)) resolve()
    })
    child.once('exit', () => reject(new Error(`the server ended after: ${printed}`)))
  })
  return child
}

export async function kill9(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

export async function claimOf(runsDirectory: string, ref: string): Promise<ClaimRecord | null> {
  return (await currentTurn(attemptPaths(path.join(runsDirectory, ref)))).claim
}

async function killSupervisor(runsDirectory: string, ref: string): Promise<void> {
  const pid = (await claimOf(runsDirectory, ref))?.supervisor?.pid
  if (pid === undefined) throw new Error(`${ref} has no supervisor`)
  process.kill(pid, 'SIGKILL')
}

/** Registers what must hold whoever is killed, with runs that are isolated in this way. */
export function survivalRules(setting: IsolationSetting): void {
  const rule = (title: string, body: (t: ExecutionContext, bench: LocalBench) => Promise<void>) =>
    test(`${setting}: ${title}`, async t => body(t, await benchWith(setting)(t)))

  rule(
    'a run continues when the server is killed, and the next server sees its real end',
    async (t, { runsDirectory, reopen }) => {
      const command = ['sh', '-c', 'echo one; read -r line < fifo; echo two; exit 9']
      const submitted = launch({ command: ['sh', '-c', `mkfifo fifo; ${command[2]}`] })
      const ref = `${submitted.run_id}/1`
      await kill9(await server(setting, runsDirectory, submitted, ref))
      const executor = await reopen()
      await untilPrinted(executor, ref, 'one\n')
      t.is((await executor.observe(ref)).state, 'running')
      await writeFile(path.join(runsDirectory, ref, 'work', 'fifo'), 'go\n')
      t.like(await exitOf(executor, ref), { exit_code: 9, signal: null, launch_error: null })
      t.is((await outputOf(executor, ref)).stdout.toString(), 'one\ntwo\n')
    },
  )

  rule(
    'a run that ended while no server ran is reported with its exit status',
    async (t, { runsDirectory, reopen }) => {
      const submitted = launch({ command: ['sh', '-c', 'sleep 0.5; exit 11'] })
      const ref = `${submitted.run_id}/1`
      await kill9(await server(setting, runsDirectory, submitted, ref))
      const { exit } = attemptPaths(path.join(runsDirectory, ref))
      await until('the exit is on disk', 50_000, () => readJson(exit))
      t.like(await (await reopen()).observe(ref), { state: 'exited', exit: { exit_code: 11 } })
    },
  )

  rule(
    'a stop is carried out, including the kill, even if the server dies after requesting it',
    async (t, { runsDirectory, reopen }) => {
      const submitted = launch({ command: ['sh', '-c', `trap '' TERM; echo ready; ${loop}`] })
      const ref = `${submitted.run_id}/1`
      await kill9(await server(setting, runsDirectory, submitted, ref, '1'))
      const { exit } = attemptPaths(path.join(runsDirectory, ref))
      await until('the exit is on disk', 50_000, () => readJson(exit))
      t.like(await (await reopen()).observe(ref), { state: 'exited', exit: { signal: 'SIGKILL' } })
    },
  )

  rule(
    'when the supervisor is killed, its run is killed and ends as lost, never twice',
    async (t, { runsDirectory, executor, reopen }) => {
      const id = randomUUID()
      const sub = (name: string) => `sh -c '${loop}; : ${id} ${name}' &`
      const script = `${sub('child')} setsid ${sub('escapee')} echo ready; wait; : ${id}`
      const submitted = launch({ command: ['sh', '-c', script] })
      const ref = await executor.submit(submitted)
      await untilPrinted(executor, ref, 'ready\n')
      await killSupervisor(runsDirectory, ref)
      const exit = await exitOf(executor, ref)
      t.like(exit, { exit_code: null, signal: null, launch_error: 'supervisor lost' })
      t.deepEqual(await commandLinesWith(id), [])
      const other = await reopen()
      t.is(await other.submit(submitted), ref)
      t.like(await other.observe(ref), { state: 'exited', exit })
    },
  )

  rule(
    'a supervisor killed while the server was dead is noticed by the next server',
    async (t, { runsDirectory, reopen }) => {
      const id = randomUUID()
      const submitted = launch({ command: ['sh', '-c', `${loop}; : ${id}`] })
      const ref = `${submitted.run_id}/1`
      await kill9(await server(setting, runsDirectory, submitted, ref))
      await killSupervisor(runsDirectory, ref)
      const executors = await Promise.all([reopen(), reopen()])
      const [one, two] = await Promise.all(executors.map(executor => exitOf(executor, ref)))
      t.deepEqual(one, two)
      t.is(one?.launch_error, 'supervisor lost')
      t.deepEqual(await commandLinesWith(id), [])
    },
  )
}
