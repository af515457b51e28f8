import test from 'ava'
import { exitOf, launch } from './attempts.ts'
import { benchWith } from './local-bench.ts'
import { outputOf } from './output.ts'
import { whatHolds } from './what-holds.ts'

const holds = await whatHolds()
const named = (nodes: number) =>
  launch({
    nodes,
    gpu_indexes: nodes === 2 ? [0, 1] : [0],
    command: ['sh', '-c', 'echo "$NCCL_HOSTID"'],
  })

for (const mode of ['bubblewrap', 'user', 'landlock', 'none'] as const)
  if (mode === 'none' || holds[mode] === null)
    test.serial(
      `${mode}: NCCL takes ranks for different hosts only where isolation keeps them apart`,
      async t => {
        const { executor } = await benchWith(mode)(t)
        const both = await executor.submit(named(2))
        const alone = await executor.submit(named(1))
        for (const ref of [both, alone]) t.is((await exitOf(executor, ref)).exit_code, 0)
        const told = async (ref: string, rank: number) =>
          String((await outputOf(executor, ref, rank)).stdout).trim()
        const isolated = mode !== 'none'
        t.is(await told(both, 0), isolated ? 'local-0' : '')
        t.is(await told(both, 1), isolated ? 'local-1' : '')
        t.is(await told(alone, 0), '')
      },
    )
