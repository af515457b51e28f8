import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import type { IsolationSetting } from '../executor/node/isolation.ts'
import { builtInRecipes } from '../recipes/catalogue.ts'
import { launch } from '../test/executor/attempts.ts'
import { isolationAt, openAt } from '../test/executor/bench.ts'
import { until } from '../test/servers/until.ts'

/**
 * Trains the recipe `digits` with and without isolation, in turns: `node bench/isolation.ts --python VENV/bin/python`,
 * with a Python that has the recipe's requirements. Prints CPU and wall-clock seconds of each run and their medians.
 */
const { values } = parseArgs({
  options: {
    python: { type: 'string', default: 'python3' },
    modes: { type: 'string', default: 'none,bubblewrap,user,landlock' },
    rounds: { type: 'string', default: '7' },
    epochs: { type: 'string', default: '12' },
  },
})

const recipe = path.join(builtInRecipes, 'digits')
const client = path.join(builtInRecipes, '../clients/python/src')
const timed = `
import json, os, runpy, sys, time
begun = time.perf_counter()
sys.argv = [os.environ["TRAIN"]]
runpy.run_path(os.environ["TRAIN"], run_name="__main__")
json.dump([time.process_time(), time.perf_counter() - begun], open("seconds.json", "w"))
`

const modes = values.modes.split(',') as IsolationSetting[]
const seconds = new Map(modes.map(mode => [mode, [] as [number, number][]]))
const root = await mkdtemp(path.join(tmpdir(), 'forge-isolation-bench-'))
await chmod(root, 0o755)
for (let round = 0; round < Number(values.rounds); round++)
  for (const mode of modes) {
    const found = await train(mode)
    seconds.get(mode)?.push(found)
    console.log(round, mode, ...found.map(one => one.toFixed(3)))
  }
const median = (of: number[]) => of.sort((a, b) => a - b)[Math.floor(of.length / 2)] ?? Number.NaN
const base = seconds.get(modes[0] ?? 'none')?.map(([cpu]) => cpu) ?? []
for (const [mode, found] of seconds) {
  const cpu = median(found.map(([one]) => one))
  const change = ((cpu / median(base) - 1) * 100).toFixed(1)
  console.log(
    `${mode}: CPU ${cpu.toFixed(3)} s (${change} %), wall ${median(found.map(([, one]) => one)).toFixed(3)} s`,
  )
}
await rm(root, { recursive: true, force: true })

async function train(mode: IsolationSetting): Promise<[number, number]> {
  const runsDirectory = path.join(root, mode)
  const venv = path.dirname(path.dirname(values.python))
  const readable = [recipe, client, venv]
  const isolation = await isolationAt(runsDirectory, mode, { readable, passed: [root] })
  const executor = await openAt(runsDirectory, { isolation })
  const ref = await executor.submit(
    launch({
      command: [values.python, '-c', timed],
      env: {
        SERVICE_ENABLED: '0',
        PYTHONPATH: client,
        TRAIN: path.join(recipe, 'train.py'),
        FORGE_PARAMS: JSON.stringify({ epochs: Number(values.epochs) }),
      },
    }),
  )
  const exit = await until('it has ended', 600_000, async () => {
    const observed = await executor.observe(ref)
    return observed.state === 'exited' ? observed.exit : null
  })
  const errors = await readFile(path.join(runsDirectory, ref, 'stderr.log'), 'utf8')
  if (exit.exit_code !== 0) throw new Error(`${mode}: ${JSON.stringify(exit)} ${errors}`)
  return JSON.parse(await readFile(path.join(runsDirectory, ref, 'work', 'seconds.json'), 'utf8'))
}
