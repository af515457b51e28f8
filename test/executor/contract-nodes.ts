import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { until } from '../servers/until.ts'
import { commandLinesWith, exitOf, finish, kill, launch, untilState } from './attempts.ts'
import type { Rule } from './contract-rule.ts'
import { outputOf, untilPrinted } from './output.ts'

const shell = (script: string) => ['sh', '-c', script]
const onTwo = (script: string) => launch({ nodes: 2, gpu_indexes: [0, 1], command: shell(script) })
const loop = 'while :; do sleep 0.05; done'

/** Attempts of two nodes. */
export function nodeRules(rule: Rule): void {
  rule('both ranks find their own place and the same meeting point', async (t, bench) => {
    const { executor } = bench
    const place = '$RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $NODE_RANK $GROUP_RANK'
    const submitted = onTwo(`echo "${place}"; echo "$MASTER_ADDR:$MASTER_PORT"; echo "$GIVEN"`)
    const ref = await executor.submit({ ...submitted, env: { GIVEN: 'to all', RANK: '7' } })
    t.like(await exitOf(executor, ref), { exit_code: 0, signal: null, launch_error: null })
    const told = async (rank: number) =>
      (await outputOf(executor, ref, rank)).stdout.toString().split('\n')
    const [first, second] = [await told(0), await told(1)]
    t.is(first[0], '0 2 0 1 0 0')
    t.is(second[0], '1 2 0 1 1 1')
    t.regex(first[1] ?? '', /^[\w.-]+:\d{4,5}$/)
    t.is(second[1], first[1])
    t.deepEqual([first[2], second[2]], ['to all', 'to all'])
  })

  rule('the ranks run at the same time, in one folder', async (t, { executor }) => {
    const other = '$((1 - RANK))'
    const script = `date +%s%N > up-$RANK; until [ -s up-${other} ]; do sleep 0.02; done; cat up-$RANK`
    const ref = await executor.submit(onTwo(script))
    t.is((await exitOf(executor, ref)).exit_code, 0)
    const at = async (rank: number) => Number((await outputOf(executor, ref, rank)).stdout) / 1e6
    t.log(`started ${Math.abs((await at(0)) - (await at(1))).toFixed(1)} ms apart`)
  })

  rule('the ranks meet at the address that they are given', async (t, { executor }) => {
    const code = `import os, socket, time
place = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
if os.environ["RANK"] == "0":
    door = socket.create_server(place)
    print(door.accept()[0].recv(100).decode())
else:
    for _ in range(2000):
        try: peer = socket.create_connection(place); break
        except OSError: time.sleep(0.02)
    peer.sendall(b"rank 1 is here")`
    const ref = await executor.submit(
      launch({ nodes: 2, gpu_indexes: [0, 1], command: ['/usr/bin/python3', '-c', code] }),
    )
    t.is((await exitOf(executor, ref)).exit_code, 0)
    t.is((await outputOf(executor, ref)).stdout.toString(), 'rank 1 is here\n')
  })

  rule('the output of each rank is separate, byte for byte, across restarts', async (t, bench) => {
    const script =
      'i=0; while [ $i -lt 60 ]; do echo "$RANK says $i"; echo "$RANK $i" >&2; i=$((i+1)); sleep 0.005; done'
    const ref = await bench.executor.submit(onTwo(script))
    const read = [0, 1].map(() => ({ stdout: '', stderr: '' }))
    await until('all output', 50_000, async () => {
      const executor = await bench.reopen()
      const { state } = await executor.observe(ref)
      const from = read.map(of => ({ stdout: of.stdout.length, stderr: of.stderr.length }))
      const pieces = await executor.output(ref, from, 400)
      t.true(pieces.reduce((sum, piece) => sum + piece.bytes.length, 0) <= 400)
      for (const { rank, stream, offset, bytes } of pieces) {
        const of = read[rank]
        if (!of) throw new Error(`there is no rank ${rank}`)
        t.is(offset, of[stream].length)
        of[stream] += bytes.toString()
      }
      return state === 'exited' && pieces.length === 0
    })
    const said = (line: (index: number) => string) =>
      Array.from({ length: 60 }, (_, index) => `${line(index)}\n`).join('')
    for (const rank of [0, 1]) {
      t.is(
        read[rank]?.stdout,
        said(index => `${rank} says ${index}`),
      )
      t.is(
        read[rank]?.stderr,
        said(index => `${rank} ${index}`),
      )
    }
  })

  rule('it is known where each rank runs, and on which GPUs', async (t, bench) => {
    const { executor, reopen, choosesGpus } = bench
    const print = shell('echo "$CUDA_VISIBLE_DEVICES"; sleep 600')
    const submitted = launch({ nodes: 2, gpu_indexes: [0, 1, 2, 3], command: print })
    const ref = await executor.submit(submitted)
    await untilPrinted(executor, ref, '\n')
    const nodes = (await executor.nodes(ref)) ?? []
    t.deepEqual(
      nodes.map(({ rank }) => rank),
      [0, 1],
    )
    t.is(new Set(nodes.map(({ node }) => node)).size, 2)
    for (const { node } of nodes) t.regex(node, /^[\w.-]{1,255}$/)
    for (const { rank, gpu_indexes } of nodes) {
      t.is(gpu_indexes.length, 2)
      await until(`rank ${rank} printed`, 50_000, async () =>
        (await outputOf(executor, ref, rank)).stdout.includes('\n'),
      )
      const seen = (await outputOf(executor, ref, rank)).stdout.toString()
      if (choosesGpus) t.regex(seen, /^\d,\d\n$/)
      else t.is(seen, `${gpu_indexes}\n`)
    }
    if (!choosesGpus)
      t.deepEqual(
        nodes.flatMap(({ gpu_indexes }) => gpu_indexes),
        [0, 1, 2, 3],
      )
    await kill(executor, ref)
    t.deepEqual(await (await reopen()).nodes(ref), nodes, 'also when it is over')
  })

  rule('the first rank that fails decides, and the others are stopped', async (t, { executor }) => {
    for (const failing of [0, 1]) {
      const id = randomUUID()
      const ref = await executor.submit(
        onTwo(`if [ $RANK = ${failing} ]; then exit 3; fi; ${loop}; : ${id}`),
      )
      const exit = await exitOf(executor, ref)
      t.like(exit, { exit_code: 3, signal: null, launch_error: null, oom_killed: false })
      t.deepEqual(await commandLinesWith(id), [])
    }
  })

  rule('a rank that ignores the stop after the failure of another is killed', async (t, bench) => {
    const { executor, scratch } = bench
    const id = randomUUID()
    const up = path.join(scratch, 'up')
    const ref = await executor.submit(
      onTwo(
        `if [ $RANK = 0 ]; then until [ -e ${up} ]; do sleep 0.02; done; kill -SEGV $$; fi
         trap '' TERM; touch ${up}; ${loop}; : ${id}`,
      ),
    )
    t.like(await exitOf(executor, ref), { exit_code: null, signal: 'SIGSEGV', oom_killed: false })
    t.deepEqual(await commandLinesWith(id), [])
  })

  rule('an attempt succeeds when its last rank has', async (t, { executor, scratch }) => {
    const [go, done] = ['go', 'done'].map(name => path.join(scratch, name)) as [string, string]
    const ref = await executor.submit(
      onTwo(`if [ $RANK = 1 ]; then touch ${done}; exit 0; fi
             until [ -e ${go} ]; do sleep 0.02; done; echo last`),
    )
    await until('rank 1 has ended', 50_000, () =>
      readFile(done).then(
        () => true,
        () => false,
      ),
    )
    await untilState(executor, ref, 'running')
    await writeFile(go, '')
    t.like(await exitOf(executor, ref), { exit_code: 0, signal: null })
    t.is((await outputOf(executor, ref)).stdout.toString(), 'last\n')
  })

  rule('SIGTERM reaches every rank, and the stop waits for all', async (t, { executor }) => {
    const ref = await executor.submit(onTwo(`trap 'echo bye; exit 3' TERM; echo ready; ${loop}`))
    for (const rank of [0, 1]) await untilPrinted(executor, ref, 'ready\n', rank)
    await executor.stop(ref, { grace_s: 600, force: false })
    t.like(await exitOf(executor, ref), { exit_code: 3, signal: null })
    for (const rank of [0, 1])
      t.is((await outputOf(executor, ref, rank)).stdout.toString(), 'ready\nbye\n')
  })

  rule('force kills every rank and its child processes', async (t, { executor }) => {
    const id = randomUUID()
    const child = `setsid sh -c 'trap "" TERM; echo ready; ${loop}; : ${id}' &`
    const ref = await executor.submit(onTwo(`trap '' TERM; ${child} ${loop}; : ${id}`))
    for (const rank of [0, 1]) await untilPrinted(executor, ref, 'ready\n', rank)
    await executor.stop(ref, { grace_s: 600, force: true })
    t.like(await exitOf(executor, ref), { signal: 'SIGKILL', oom_killed: false })
    t.deepEqual(await commandLinesWith(id), [])
  })

  rule('processes left behind by a rank do not outlive the attempt', async (t, { executor }) => {
    const id = randomUUID()
    const ref = await executor.submit(
      onTwo(`if [ $RANK = 1 ]; then setsid sh -c '${loop}; : ${id}' & sleep 0.2; fi; exit 0`),
    )
    t.like(await exitOf(executor, ref), { exit_code: 0 })
    t.deepEqual(await commandLinesWith(id), [])
  })

  rule('a missing program is one launch error, on however many nodes', async (t, { executor }) => {
    const submitted = launch({ nodes: 2, gpu_indexes: [0, 1], command: ['/no/such/program'] })
    const { ref } = await finish(executor, submitted)
    t.like(await executor.observe(ref), {
      started_at: null,
      exit: { exit_code: null, launch_error: 'program not found: /no/such/program' },
    })
  })

  rule('repeating the submit of a two-node attempt starts no rank again', async (t, bench) => {
    const file = path.join(bench.scratch, 'starts')
    const submitted = onTwo(`echo rank $RANK >> ${file}; sleep 0.3`)
    const other = await bench.reopen()
    const [ref] = await Promise.all([bench.executor.submit(submitted), other.submit(submitted)])
    t.like(await exitOf(bench.executor, ref), { exit_code: 0 })
    t.is(await other.submit(submitted), ref)
    t.deepEqual((await readFile(file, 'utf8')).trimEnd().split('\n').sort(), ['rank 0', 'rank 1'])
  })
}
