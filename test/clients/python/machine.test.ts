import { execFile } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { sharedForge } from '../../servers/forge.ts'
import { patient } from '../../servers/patience.ts'
import { until } from '../../servers/until.ts'
import { emptyFolder, scriptOfNewRun } from './scripts.ts'

type Environment = { environment: Record<string, unknown> | null }
type Hardware = {
  series: { scope: string; key: string; index: number | null; points: number[][] }[]
  summary: { gpus: { throttle: string[] }[] }
}
type Nodes = { node: string; facts: Record<string, unknown> }[]

const execute = promisify(execFile)
const theForge = sharedForge()

/** Samples often, until it is asked to end. */
const code = `
import sys
import forge
from forge import monitor
monitor.INTERVAL_S = 0.2
forge.init()
sys.stdin.readline()
forge.finish()
`

test.serial(
  'the client describes its machine and its activity, and everything is accepted unchanged',
  async t => {
    t.timeout(patient(300_000))
    const forge = await theForge()
    const { run, script } = await scriptOfNewRun(t, forge, code, {
      // From a process on one of two nodes.
      WORLD_SIZE: '2',
      LOCAL_WORLD_SIZE: '1',
      NCCL_DEBUG: 'WARN',
    })
    const of = `/api/runs/${run.run_id}`
    const read = async <T>(path: string) => (await forge.call<T>('GET', `${of}/${path}`)).body as T
    const { series } = await until('samples can be read', 60_000, async () => {
      const answer = await read<Hardware>('hardware?scope=host')
      const used = answer.series.find(one => one.key === 'mem_used_bytes')
      return (used?.points.length ?? 0) > 1 && answer
    })
    t.true(series.every(one => one.points.every(point => point.every(Number.isFinite))))
    const { environment } = await until('the environment can be read', 30_000, async () => {
      const answer = await read<Environment>('environment')
      return answer.environment !== null && answer
    })
    t.like(environment, { world_size: 2, env: { NCCL_DEBUG: 'WARN', WORLD_SIZE: '2' } })
    t.regex(String(environment?.python), /^3\./)
    const nodes = await until('the node can be read', 30_000, async () => {
      const rows = await read<Nodes>('environment/nodes')
      return rows.length === 1 && rows
    })
    t.true(Number(nodes[0]?.facts.cpu_count) > 0)
    script.say('end')
    t.like(await script.ended, { code: 0 })
    t.notRegex(script.err(), /dropped|refused|422/)
  },
)

/** The output of `nvidia-smi` of driver 550 for two GPUs, the second without power readings, for exactly this query. */
const nvidiaSmi = `#!/bin/sh
[ "$1" = "--query-gpu=index,uuid,utilization.gpu,utilization.memory,memory.used,memory.total,power.draw,power.limit,temperature.gpu,clocks.sm,name" ] || exit 2
[ "$2" = "--format=csv,noheader,nounits" ] || exit 2
cat <<'END'
0, GPU-5f1c7f0a-9d2b-4a57-8d6f-2f1f4f4a6d11, 97, 61, 67712, 81559, 640.12, 700.00, 66, 1980, NVIDIA H100 80GB HBM3
1, GPU-77aa0b52-31d4-4a0e-b5c1-0f6b6a0a9e42, 0, 0, 4, 81559, [N/A], [N/A], 31, 345, NVIDIA H100 80GB HBM3
2, GPU-1de2c0a4-7a1c-4b9a-8c55-5a0d7f6e3b90, 50, 10, 4, 81559, 99.00, 700.00, 31, 345, NVIDIA H100 80GB HBM3
END
`

/** A script whose GPUs are read until they have several samples: their readings by number, and its environment. */
async function sampledGpus(t: ExecutionContext, environment: Record<string, string>) {
  t.timeout(patient(300_000))
  const forge = await theForge()
  const { run, script } = await scriptOfNewRun(t, forge, code, environment)
  const of = `/api/runs/${run.run_id}`
  const { series, summary } = await until('samples can be read', 60_000, async () => {
    const { body } = await forge.call<Hardware>('GET', `${of}/hardware?scope=gpu`)
    return body.series.some(one => one.points.length > 1) && body
  })
  const told = await until('the environment can be read', 30_000, async () => {
    const { body } = await forge.call<Environment>('GET', `${of}/environment`)
    return body.environment !== null && body.environment
  })
  script.say('end')
  t.like(await script.ended, { code: 0 })
  t.notRegex(script.err(), /dropped|refused|422/)
  const last = (index: number, key: string) =>
    series.find(one => one.index === index && one.key === key)?.points.at(-1)?.[1]
  return { series, summary, last, environment: told }
}

test.serial('the GPUs that the run may use are sampled with nvidia-smi', async t => {
  const programs = await emptyFolder(t)
  await writeFile(join(programs, 'nvidia-smi'), nvidiaSmi)
  await chmod(join(programs, 'nvidia-smi'), 0o755)
  const { series, last, environment } = await sampledGpus(t, {
    PATH: `${programs}${delimiter}${process.env.PATH}`,
    CUDA_VISIBLE_DEVICES: '0,1',
  })
  t.deepEqual([...new Set(series.map(one => one.index))].sort(), [0, 1])
  t.is(last(0, 'util_pct'), 97)
  t.is(last(0, 'mem_used_bytes'), 67_712 * 1024 * 1024)
  t.is(last(0, 'power_w'), 640.12)
  t.is(last(1, 'temp_c'), 31)
  t.is(last(1, 'power_w'), undefined)
  t.like(environment, {
    gpu_count: 2,
    gpus: [{ index: 0, name: 'NVIDIA H100 80GB HBM3' }, { index: 1 }],
  })
})

test.serial("GPUs are sampled with the driver's library, where there is one", async t => {
  const library = await emptyFolder(t)
  const source = join(import.meta.dirname, 'nvml.c')
  await execute('cc', ['-shared', '-fPIC', '-o', join(library, 'libnvidia-ml.so.1'), source])
  const { last, summary, environment } = await sampledGpus(t, {
    LD_LIBRARY_PATH: library,
  })
  const all = (index: number) =>
    ['util_pct', 'mem_util_pct', 'mem_used_bytes', 'power_w', 'power_limit_w', 'temp_c'].map(key =>
      last(index, key),
    )
  t.deepEqual(all(0), [97, 61, 71_001_178_112, 640.12, 700, 66])
  t.deepEqual(all(1), [0, 0, 4_194_304, undefined, undefined, 31])
  t.deepEqual([last(0, 'sm_clock_mhz'), last(1, 'sm_clock_mhz')], [1980, 345])
  t.deepEqual(
    summary.gpus.map(gpu => gpu.throttle),
    [['hw_thermal', 'sw_power_cap'], []],
  )
  t.like(environment, {
    gpu_count: 2,
    gpus: [
      { index: 0, name: 'NVIDIA H100 80GB HBM3', uuid: 'GPU-5f1c7f0a-9d2b-4a57-8d6f-2f1f4f4a6d11' },
      { index: 1 },
    ],
  })
})
