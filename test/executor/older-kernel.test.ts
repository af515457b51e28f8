import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { systemPython } from './bench.ts'
import { whatHolds } from './what-holds.ts'

const holds = await whatHolds()
const older = fileURLToPath(new URL('older_kernel.py', import.meta.url))
const url = (file: string) => JSON.stringify(new URL(file, import.meta.url))

/** Chooses an isolation, and runs a command in it, in a process for which the kernel has neither Landlock nor seccomp. */
async function chosen(t: ExecutionContext, mode: string) {
  const folder = await mkdtemp(path.join(tmpdir(), 'forge-older-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  const program = `
    const { isolationAt, openAt } = await import(${url('bench.ts')})
    const { launch, exitOf } = await import(${url('attempts.ts')})
    const { describeIsolation } = await import(${url('../../executor/node/isolation.ts')})
    const runs = ${JSON.stringify(path.join(folder, 'runs'))}
    const isolation = await isolationAt(runs, ${JSON.stringify(mode)})
    const executor = await openAt(runs, { isolation })
    const ref = await executor.submit(launch({ command: ['true'] }))
    const { gaps } = isolation
    console.log(JSON.stringify({ gaps, told: describeIsolation(isolation), exit: await exitOf(executor, ref) }))`
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', '-e', program]
  const { stdout } = await promisify(execFile)(systemPython, [older, ...node])
  return JSON.parse(stdout)
}

for (const mode of ['bubblewrap', 'user'] as const)
  if (holds[mode] === null)
    test.serial(
      `${mode}: what a kernel without Landlock and seccomp leaves open is named, and runs start`,
      async t => {
        const { gaps, told, exit } = await chosen(t, mode)
        t.true(gaps.includes('sockets'))
        t.true(gaps.includes('calls'))
        t.false(gaps.includes('signals'), 'other users and namespaces keep them out')
        t.regex(told.notice, /runs can also connect to abstract sockets .*make all system calls/)
        t.is(told.degraded, undefined)
        t.like(exit, { exit_code: 0, launch_error: null })
      },
    )

test.serial('Landlock is not chosen where the kernel has none', async t => {
  await t.throwsAsync(chosen(t, 'landlock'), {
    message: /SERVICE_LOCAL_ISOLATION=landlock does not/,
  })
})
