import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { attemptPaths } from '../../executor/attempts/attempt-directory.ts'
import { readJson } from '../../executor/attempts/durable-json.ts'
import type { IsolationSetting } from '../../executor/node/isolation.ts'
import { until } from '../servers/until.ts'
import { commandLinesWith, exitOf, launch, untilState } from './attempts.ts'
import { kill9, killSupervisor, server } from './doomed.ts'
import { fewAtOnce } from './few-at-once.ts'
import { benchWith, type LocalBench } from './local-bench.ts'
import { outputOf, untilPrinted } from './output.ts'

export const loop = 'while :; do sleep 0.05; done'

/** Registers rules that hold whatever is killed, for runs that are isolated in this way. */
export function survivalRules(setting: IsolationSetting): void {
  const rule = (title: string, body: (t: ExecutionContext, bench: LocalBench) => Promise<void>) =>
    test(`${setting}: ${title}`, t => fewAtOnce(async () => body(t, await benchWith(setting)(t))))

  rule(
    'a run has no descriptors but its own, and no lease on its output',
    async (t, { executor }) => {
      const code = `import fcntl, os
print(sorted(fd for fd in map(int, os.listdir("/proc/self/fd")) if fd < 100))
try: fcntl.fcntl(1, fcntl.F_SETLEASE, fcntl.F_WRLCK); print("leased")
except OSError: print("refused")`
      const ref = await executor.submit(launch({ command: ['/usr/bin/python3', '-c', code] }))
      t.is((await exitOf(executor, ref)).exit_code, 0)
      // The fourth is the listing itself. Descriptors inherited from the test runner lie far above.
      t.is(String((await outputOf(executor, ref)).stdout), '[0, 1, 2, 3]\nrefused\n')
    },
  )

  rule(
    'a run continues when the server is killed, and the next server sees its real end',
    async (t, { runsDirectory, reopen }) => {
      const command = ['sh', '-c', 'echo one; read -r line < fifo; echo two; exit 9']
      const submitted = launch({ command: ['sh', '-c', `mkfifo fifo; ${command[2]}`] })
      const ref = `${submitted.run_id}/1`
      await kill9(await server(setting, runsDirectory, submitted, ref))
      const executor = await reopen()
      await untilPrinted(executor, ref, 'one\n')
      // Its record may be written a moment after its first line.
      await untilState(executor, ref, 'running')
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
