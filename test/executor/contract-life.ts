import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { AttemptRuns, type Executor } from '../../executor/port.ts'
import { until } from '../servers/until.ts'
import { commandLinesWith, exitOf, finish, kill, launch, untilState } from './attempts.ts'
import type { Rule } from './contract-rule.ts'
import { outputOf, untilPrinted } from './output.ts'

const printGpus = ['sh', '-c', 'echo "[$CUDA_VISIBLE_DEVICES]"']

/** Its GPUs as `node/index`. */
async function gpusHeld(executor: Executor, ref: string): Promise<string[]> {
  const nodes = (await executor.nodes(ref)) ?? []
  return nodes.flatMap(({ node, gpu_indexes }) => gpu_indexes.map(index => `${node}/${index}`))
}

/** The life of a running attempt: its output, its GPUs, stops, and its files afterwards. */
export function lifeRules(rule: Rule): void {
  rule('an attempt is listed until it has ended', async (t, { executor }) => {
    const ref = await executor.submit(launch({ command: ['sleep', '600'] }))
    t.true((await executor.unfinished()).includes(ref))
    await executor.stop(ref, { grace_s: 0, force: true })
    await exitOf(executor, ref)
    t.false((await executor.unfinished()).includes(ref))
  })

  rule('a run that handles SIGTERM ends on its own', async (t, { executor }) => {
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

  rule('stopping twice, and after the end, is not an error', async (t, { executor }) => {
    const ref = await executor.submit(launch({ command: ['sleep', '600'] }))
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

  rule('a run sees the GPUs it holds, and no others', async (t, { executor, choosesGpus }) => {
    const seen = async (gpu_indexes: number[], env: Record<string, string> = {}) => {
      const { output } = await finish(executor, launch({ command: printGpus, gpu_indexes, env }))
      return output.stdout.toString()
    }
    t.is(await seen([]), '[]\n')
    const two = await seen([2, 3])
    const one = await seen([1], { CUDA_VISIBLE_DEVICES: '0,1,2,3' })
    t.regex(two, choosesGpus ? /^\[\d,\d\]\n$/ : /^\[2,3\]\n$/)
    t.regex(one, choosesGpus ? /^\[\d\]\n$/ : /^\[1\]\n$/)
  })

  rule('no GPU is held by two runs at once', async (t, { executor }) => {
    const both = [
      [0, 1],
      [2, 3],
    ].map(gpu_indexes => launch({ command: ['sleep', '600'], gpu_indexes }))
    const refs = await Promise.all(both.map(one => executor.submit(one)))
    for (const ref of refs) await untilState(executor, ref, 'running')
    const held = await Promise.all(refs.map(ref => gpusHeld(executor, ref)))
    t.deepEqual(
      held.map(gpus => gpus.length),
      [2, 2],
    )
    t.is(new Set(held.flat()).size, 4, held.join(' '))
    for (const ref of refs) await kill(executor, ref)
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

  rule('a stop reaches processes that moved to another session', async (t, { executor }) => {
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
    'the files of a run are deleted once all of its attempts have ended',
    async (t, { executor }) => {
      const submitted = launch({ command: ['sleep', '600'] })
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

  rule('a stop right after the submit ends the starting run', async (t, { executor }) => {
    for (const force of [true, false]) {
      const id = randomUUID()
      const ref = await executor.submit(launch({ command: ['sh', '-c', `sleep 600; : ${id}`] }))
      await executor.stop(ref, { grace_s: 5, force })
      const exit = await exitOf(executor, ref)
      t.not(exit.exit_code, 0)
      t.deepEqual(await commandLinesWith(id), [])
    }
  })

  rule('a suspended run also ends after SIGTERM', async (t, { executor }) => {
    const command = ['sh', '-c', "trap 'exit 4' TERM; echo ready; kill -STOP $$; echo went on"]
    const ref = await executor.submit(launch({ command }))
    await untilPrinted(executor, ref, 'ready\n')
    await executor.stop(ref, { grace_s: 600, force: false })
    t.like(await exitOf(executor, ref), { exit_code: 4 })
  })

  rule('megabytes of output arrive complete, and nothing follows them', async (t, bench) => {
    const { executor } = bench
    const script =
      'i=0; while [ $i -lt 40000 ]; do echo "line $i of many that are printed at once"; i=$((i+1)); done'
    const { ref, output } = await finish(executor, launch({ command: ['sh', '-c', script] }))
    const lines = output.stdout.toString().trimEnd().split('\n')
    t.is(lines.length, 40_000)
    t.is(lines.at(-1), 'line 39999 of many that are printed at once')
    const stdout = output.stdout.length
    t.deepEqual(await executor.output(ref, [{ stdout, stderr: 0 }], 1000), [])
    t.deepEqual(await executor.output(ref, [{ stdout: stdout + 5, stderr: 5 }], 1000), [])
  })
}
