import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Exit } from '../../events/jobs.ts'
import {
  AttemptRuns,
  type Executor,
  type Launch,
  StaleSubmit,
  UnknownAttempt,
} from '../../executor/port.ts'
import { until } from '../servers/until.ts'
import { commandLinesWith, exitOf, launch, untilState } from './attempts.ts'
import { outputOf, untilPrinted } from './output.ts'

/** What an engine's tests provide: an executor, and the same one as a new process would open it. */
export type Bench = {
  executor: Executor
  /** A second handle on the same engine, as after a restart of the server. */
  reopen(): Promise<Executor>
  /** A directory that commands may write to. */
  scratch: string
}

/** Registers one test for each rule that every engine must follow. */
export function executorContract(
  engine: string,
  open: (t: ExecutionContext) => Promise<Bench>,
): void {
  const rule = (title: string, body: (t: ExecutionContext, bench: Bench) => Promise<void>) =>
    test(`${engine}: ${title}`, async t => body(t, await open(t)))

  rule('the launch environment arrives exactly', async (t, { executor }) => {
    const env = {
      SERVICE_ENABLED: '1',
      SERVICE_ENDPOINT: 'http://127.0.0.1:1/api/ingest',
      SERVICE_RUN_ID: 'run_env',
      SERVICE_TOKEN: 'fit_abc_def',
      UNICODE: '训练 ünï 🚂',
      NEWLINE: 'first\nsecond\n',
      EMPTY: '',
      EQUALS: 'a=b=c',
      LARGE: 'x'.repeat(32 * 1024),
    }
    const { output } = await finish(
      executor,
      launch({ env, command: ['cat', '/proc/self/environ'] }),
    )
    const seen = new Map(
      output.stdout
        .toString()
        .split('\0')
        .filter(Boolean)
        .map(entry => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
    )
    for (const [name, value] of Object.entries(env)) t.is(seen.get(name), value, name)
    t.truthy(seen.get('PATH'))
    t.truthy(seen.get('HOME'))
  })

  rule('no setting of the server reaches a run', async (t, { executor }) => {
    const { output } = await finish(executor, launch({ command: ['env'] }))
    t.regex(output.stdout.toString(), /^PATH=/m)
    t.notRegex(output.stdout.toString(), /^(SERVICE_|NODE_|npm_)/m)
  })

  rule(
    'a run has no descriptors but its own, and no lease on its output',
    async (t, { executor }) => {
      const code = `import fcntl, os
print(sorted(fd for fd in map(int, os.listdir("/proc/self/fd")) if fd < 100))
try: fcntl.fcntl(1, fcntl.F_SETLEASE, fcntl.F_WRLCK); print("leased")
except OSError: print("refused")`
      const ref = await executor.submit(launch({ command: ['/usr/bin/python3', '-c', code] }))
      t.is((await exitOf(executor, ref)).exit_code, 0)
      // The fourth is the listing itself. Far above lie those that whoever started the tests left open to everybody.
      t.is(String((await outputOf(executor, ref)).stdout), '[0, 1, 2, 3]\nrefused\n')
    },
  )

  rule('no argument of any process holds a secret', async (t, { executor }) => {
    const secret = randomUUID()
    const ref = await executor.submit(
      launch({ env: { SERVICE_TOKEN: secret }, command: ['sleep', '30'] }),
    )
    await untilState(executor, ref, 'running')
    t.true((await commandLinesWith('sleep')).length > 0)
    t.deepEqual(await commandLinesWith(secret), [])
    await kill(executor, ref)
  })

  for (const code of [0, 1, 7, 137])
    rule(`exit status ${code} is reported as it is`, async (t, { executor }) => {
      const submitted = launch({ command: ['sh', '-c', `exit ${code}`] })
      const { ref, exit } = await finish(executor, submitted)
      t.like(exit, { exit_code: code, signal: null, launch_error: null, oom_killed: false })
      const seen = await executor.observe(ref)
      t.true(
        seen.state === 'exited' && seen.started_at !== null && seen.started_at <= exit.ended_at,
      )
    })

  for (const signal of ['SIGSEGV', 'SIGKILL', 'SIGTERM'])
    rule(`death by ${signal} is reported as that signal`, async (t, { executor }) => {
      const command = ['sh', '-c', `kill -${signal.slice(3)} $$`]
      const { exit } = await finish(executor, launch({ command }))
      t.like(exit, { exit_code: null, signal, launch_error: null, oom_killed: false })
    })

  rule('a missing program is a launch error that names it', async (t, { executor }) => {
    const { ref } = await finish(executor, launch({ command: ['/no/such/program', 'x'] }))
    const launch_error = 'program not found: /no/such/program'
    t.like(await executor.observe(ref), {
      started_at: null,
      exit: { exit_code: null, signal: null, launch_error },
    })
  })

  rule('a file that may not be executed is a launch error', async (t, { executor, scratch }) => {
    const file = path.join(scratch, 'not-executable')
    await writeFile(file, 'text', { mode: 0o600 })
    const { exit } = await finish(executor, launch({ command: [file] }))
    t.is(exit.launch_error, `no permission to run ${file}`)
  })

  rule('a variable that no process can hold is a launch error', async (t, { executor }) => {
    const { exit } = await finish(executor, launch({ env: { BAD: 'a\0b' }, command: ['true'] }))
    t.regex(exit.launch_error ?? '', /null bytes/)
  })

  rule('submitting an attempt again starts nothing', async (t, { executor, reopen, scratch }) => {
    const file = path.join(scratch, 'starts')
    const again = launch({ command: ['sh', '-c', `echo started >> ${file}; sleep 0.3`] })
    const refs = await Promise.all([executor.submit(again), executor.submit(again)])
    const other = await reopen()
    refs.push(await other.submit(again))
    const [ref = ''] = refs
    await exitOf(executor, ref)
    refs.push(await other.submit(again), await executor.submit(again))
    t.deepEqual(new Set(refs), new Set([ref]))
    t.is(await readFile(file, 'utf8'), 'started\n')
  })

  rule('submits of one attempt from two servers at once start it once', async (t, bench) => {
    const other = await bench.reopen()
    for (let round = 0; round < 5; round++) {
      const file = path.join(bench.scratch, `race-${round}`)
      const same = launch({ command: ['sh', '-c', `echo started >> ${file}`] })
      const [ref] = await Promise.all([bench.executor.submit(same), other.submit(same)])
      t.like(await exitOf(bench.executor, ref), { exit_code: 0 })
      t.is(await readFile(file, 'utf8'), 'started\n')
    }
  })

  rule(
    'an attempt is found by its run and number, others are not',
    async (t, { executor, reopen }) => {
      const submitted = launch({ command: ['true'] })
      t.is(await executor.find(submitted.run_id, 1), null)
      const ref = await executor.submit(submitted)
      t.is(await (await reopen()).find(submitted.run_id, 1), ref)
      t.is(await executor.find(submitted.run_id, 2), null)
      await exitOf(executor, ref)
    },
  )

  rule('a newer attempt ends the older one before it starts', async (t, { executor }) => {
    const older = launch({ command: ['sleep', '60'] })
    const first = await executor.submit(older)
    await untilState(executor, first, 'running')
    const newer = { ...older, attempt: 2, fencing_token: 2, command: ['true'] }
    const second = await executor.submit(newer)
    t.like(await executor.observe(first), { state: 'exited', exit: { signal: 'SIGKILL' } })
    t.like(await exitOf(executor, second), { exit_code: 0 })
  })

  rule(
    'a submit with an older token than another of its run is refused',
    async (t, { executor }) => {
      const newer = launch({ attempt: 2, fencing_token: 9, command: ['sleep', '60'] })
      const ref = await executor.submit(newer)
      const stale = { ...newer, attempt: 1, fencing_token: 8 }
      await t.throwsAsync(executor.submit(stale), { instanceOf: StaleSubmit })
      t.like(await executor.observe(`${newer.run_id}/1`), { state: 'exited', started_at: null })
      t.is((await executor.observe(ref)).state === 'exited', false)
      await kill(executor, ref)
    },
  )

  rule(
    'an unknown reference is unknown, and cannot be stopped or read',
    async (t, { executor }) => {
      for (const ref of ['run_none/1', 'nonsense', '../../etc/1', 'run_none/0', '']) {
        t.deepEqual(await executor.observe(ref), { state: 'unknown' })
        const unknown = { instanceOf: UnknownAttempt }
        await t.throwsAsync(executor.stop(ref, { grace_s: 1, force: false }), unknown)
        await t.throwsAsync(executor.output(ref, [], 100), unknown)
      }
    },
  )

  rule('a run that heeds the polite signal ends by its own will', async (t, { executor }) => {
    const command = [
      'sh',
      '-c',
      "trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.05; done",
    ]
    const ref = await executor.submit(launch({ command }))
    await untilPrinted(executor, ref, 'ready\n')
    await executor.stop(ref, { grace_s: 60, force: false })
    t.like(await exitOf(executor, ref), { exit_code: 3, signal: null })
    t.is((await outputOf(executor, ref)).stdout.toString(), 'ready\nbye\n')
  })

  rule(
    'a run that ignores the polite signal is killed after the grace',
    async (t, { executor }) => {
      const command = ['sh', '-c', "trap '' TERM; echo ready; while :; do sleep 0.05; done"]
      const ref = await executor.submit(launch({ command }))
      await untilPrinted(executor, ref, 'ready\n')
      const before = performance.now()
      await executor.stop(ref, { grace_s: 1, force: false })
      t.like(await exitOf(executor, ref), { exit_code: null, signal: 'SIGKILL', oom_killed: false })
      t.true(performance.now() - before >= 1000)
    },
  )

  rule(
    'force kills at once, also after a polite stop with a long grace',
    async (t, { executor }) => {
      const command = [
        'sh',
        '-c',
        "trap 'echo asked' TERM; echo ready; while :; do sleep 0.05; done",
      ]
      const ref = await executor.submit(launch({ command }))
      await untilPrinted(executor, ref, 'ready\n')
      await executor.stop(ref, { grace_s: 600, force: false })
      await untilPrinted(executor, ref, 'ready\nasked\n')
      await executor.stop(ref, { grace_s: 600, force: true })
      t.like(await exitOf(executor, ref), { signal: 'SIGKILL' })
    },
  )

  rule('stopping twice, and after the end, is no error', async (t, { executor }) => {
    const ref = await executor.submit(launch({ command: ['sleep', '60'] }))
    await untilState(executor, ref, 'running')
    await executor.stop(ref, { grace_s: 5, force: false })
    await executor.stop(ref, { grace_s: 5, force: false })
    const exit = await exitOf(executor, ref)
    t.is(exit.signal, 'SIGTERM')
    await executor.stop(ref, { grace_s: 5, force: true })
    t.like(await executor.observe(ref), { state: 'exited', exit })
  })

  rule('both streams are kept apart, byte for byte, across a restart', async (t, bench) => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index))
    const file = path.join(bench.scratch, 'bytes')
    await writeFile(file, bytes)
    const script = `i=0; while [ $i -lt 40 ]; do cat ${file}; cat ${file} ${file} >&2; i=$((i+1)); sleep 0.01; done`
    const ref = await bench.executor.submit(launch({ command: ['sh', '-c', script] }))
    const read = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }
    await until('all output', 50_000, async () => {
      const executor = await bench.reopen()
      const { state } = await executor.observe(ref)
      const from = { stdout: read.stdout.length, stderr: read.stderr.length }
      const pieces = await executor.output(ref, [from], 1000)
      t.true(pieces.reduce((sum, piece) => sum + piece.bytes.length, 0) <= 1000)
      for (const piece of pieces) {
        t.is(piece.offset, read[piece.stream].length)
        read[piece.stream] = Buffer.concat([read[piece.stream], piece.bytes])
      }
      return state === 'exited' && pieces.length === 0
    })
    t.true(read.stdout.equals(Buffer.concat(Array(40).fill(bytes))))
    t.true(read.stderr.equals(Buffer.concat(Array(80).fill(bytes))))
  })

  rule('a run sees the GPUs it holds, and no others', async (t, { executor }) => {
    const print = ['sh', '-c', 'echo "[$CUDA_VISIBLE_DEVICES]"']
    const seen = async (gpu_indexes: number[], env: Record<string, string> = {}) =>
      (
        await finish(executor, launch({ command: print, gpu_indexes, env }))
      ).output.stdout.toString()
    t.is(await seen([2, 3]), '[2,3]\n')
    t.is(await seen([]), '[]\n')
    t.is(await seen([1], { CUDA_VISIBLE_DEVICES: '0,1,2,3' }), '[1]\n')
  })

  rule('nothing of a run outlives it', async (t, { executor, scratch }) => {
    const id = randomUUID()
    const up = (name: string) => path.join(scratch, name)
    const loop = (name: string) =>
      `sh -c 'touch ${up(name)}; while :; do sleep 0.05; done; : ${id}' &`
    const ready = `until [ -e ${up('child')} ] && [ -e ${up('escapee')} ]; do sleep 0.02; done`
    const script = `${loop('child')} setsid ${loop('escapee')} ${ready}; exit 5`
    const ref = await executor.submit(launch({ command: ['sh', '-c', script] }))
    t.is((await exitOf(executor, ref)).exit_code, 5)
    t.deepEqual(await commandLinesWith(id), [])
  })

  rule('a stop reaches what moved to another session', async (t, { executor }) => {
    const id = randomUUID()
    const escapee = `setsid sh -c 'trap "" TERM; echo up; while :; do sleep 0.05; done; : ${id}'`
    const ref = await executor.submit(launch({ command: ['sh', '-c', `${escapee} & wait`] }))
    await untilPrinted(executor, ref, 'up\n')
    t.true((await commandLinesWith(id)).length > 0)
    await executor.stop(ref, { grace_s: 30, force: false })
    await exitOf(executor, ref)
    t.deepEqual(await commandLinesWith(id), [])
  })

  rule(
    'what is kept of a run goes when all of its attempts have ended',
    async (t, { executor }) => {
      const submitted = launch({ command: ['sleep', '60'] })
      const ref = await executor.submit(submitted)
      t.true(await executor.holds(submitted.run_id, 'relative/checkpoint'))
      t.false(await executor.holds(submitted.run_id, 's3://bucket/checkpoint'))
      await t.throwsAsync(executor.forgetRun(submitted.run_id), { instanceOf: AttemptRuns })
      await kill(executor, ref)
      t.true(await executor.forgetRun(submitted.run_id))
      t.deepEqual(await executor.observe(ref), { state: 'unknown' })
      t.is(await executor.find(submitted.run_id, 1), null)
      t.false(await executor.forgetRun(submitted.run_id))
      for (const unknown of ['..', '', '.code-cache', 'run_none'])
        t.false(await executor.forgetRun(unknown))
    },
  )

  rule('twenty runs at once all end with their own status', async (t, { executor }) => {
    const launches = Array.from({ length: 20 }, (_, index) =>
      launch({ command: ['sh', '-c', `echo ${index}; exit ${index}`] }),
    )
    const all = await Promise.all(launches.map(one => finish(executor, one)))
    t.deepEqual(
      all.map(({ exit }) => exit.exit_code),
      launches.map((_, index) => index),
    )
    t.deepEqual(
      all.map(({ output }) => output.stdout.toString()),
      launches.map((_, index) => `${index}\n`),
    )
  })

  rule('capacity is counted in whole GPUs', async (t, { executor }) => {
    const capacity = await executor.capacity()
    t.true(Number.isInteger(capacity.gpus) && capacity.gpus > 0)
    t.truthy(capacity.series)
  })
}

async function finish(
  executor: Executor,
  submitted: Launch,
): Promise<{ ref: string; exit: Exit; output: { stdout: Buffer; stderr: Buffer } }> {
  const ref = await executor.submit(submitted)
  const exit = await exitOf(executor, ref)
  return { ref, exit, output: await outputOf(executor, ref) }
}

async function kill(executor: Executor, ref: string): Promise<void> {
  await executor.stop(ref, { grace_s: 0, force: true })
  await exitOf(executor, ref)
}
