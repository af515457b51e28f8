import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Executor } from '../../executor/port.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { exitOf, kill, launch } from './attempts.ts'
import { isolationAt, openAt, systemPython } from './bench.ts'
import { outputOf, untilPrinted } from './output.ts'
import { whatHolds } from './what-holds.ts'

// The ranks of an attempt meet at a port, which other runs of the machine can also listen on.

const holds = await whatHolds()

const listens = `
import os, socket, sys, time
door = socket.socket()
door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
door.bind(("127.0.0.1", int(sys.argv[1])))
door.listen()
print("listens", flush=True)
while not os.path.exists("end"): time.sleep(0.05)`

const listening = (port: string) => [systemPython, '-c', listens, port]

const onTwo = (script: string) =>
  launch({ nodes: 2, gpu_indexes: [0, 1], command: ['sh', '-c', script] })

async function portOf(executor: Executor, ref: string): Promise<string> {
  await untilPrinted(executor, ref, '\n')
  return String((await outputOf(executor, ref)).stdout).trim()
}

async function opened(t: ExecutionContext, mode: 'bubblewrap' | 'user' | 'landlock' | 'none') {
  const root = await mkdtemp('/tmp/forge-test-meeting-')
  t.teardown(() => rm(root, { recursive: true, force: true, maxRetries: 10 }))
  const runs = path.join(root, 'runs')
  return { runs, executor: await openAt(runs, { isolation: await isolationAt(runs, mode) }) }
}

for (const mode of ['bubblewrap', 'user', 'landlock', 'none'] as const) {
  if (mode !== 'none' && holds[mode] !== null) continue
  test.serial(`${mode}: an attempt ends if another run listens where its ranks meet`, async t => {
    t.timeout(patient(120_000))
    const { executor } = await opened(t, mode)
    const ref = await executor.submit(onTwo('echo $MASTER_PORT; exec sleep 600'))
    const port = await portOf(executor, ref)
    const impostor = await executor.submit(launch({ command: listening(port) }))
    t.like(await exitOf(executor, ref), { exit_code: 78, signal: null })
    const { stderr } = await outputOf(executor, ref)
    t.regex(String(stderr), new RegExp(`another process listens on port ${port}`))
    await kill(executor, impostor)
  })

  test.serial(`${mode}: an attempt continues once its own rank listens there`, async t => {
    t.timeout(patient(120_000))
    const { runs, executor } = await opened(t, mode)
    const own = `echo $MASTER_PORT; [ $RANK = 1 ] || exec ${systemPython} -c '${listens}' $MASTER_PORT
      until [ -e end ]; do sleep 0.05; done`
    const ref = await executor.submit(onTwo(own))
    await untilPrinted(executor, ref, 'listens\n')
    const port = String((await outputOf(executor, ref)).stdout).split('\n')[0] ?? ''
    // Long enough for a few looks.
    const other = await executor.submit(launch({ command: ['sh', '-c', 'sleep 1; echo passed'] }))
    await until('a second has passed', 30_000, async () =>
      String((await outputOf(executor, other)).stdout).includes('passed'),
    )
    t.is((await executor.observe(ref)).state, 'running', port)
    await writeFile(path.join(runs, ref, 'work', 'end'), '')
    t.like(await exitOf(executor, ref), { exit_code: 0, signal: null })
  })
}
