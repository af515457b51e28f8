import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type ExecutionContext } from 'ava'
import { type Forge, startForgeProcess } from '../../servers/forge.ts'
import { patient } from '../../servers/patience.ts'
import { until } from '../../servers/until.ts'
import { storedPoints } from './scripts.ts'

type Run = { run_id: string; env: Record<string, string> }
type Plan = {
  phases: {
    /** Default: until the script receives the next line. */
    steps?: number
    from?: number
    /** The value logged at a step is this plus the step. */
    value: number
    after?: 'flush' | 'spool'
    wait?: boolean
  }[]
  end: 'finish' | 'vanish' | 'raise'
  timeout?: number
}

const keys = ['train/loss', 'train/accuracy', 'lr']
const client = join(import.meta.dirname, '../../../clients/python/src')
const withinMs = 40_000

test.serial(
  'every point arrives exactly once although the server crashes while it is logged',
  async t => {
    const { forge, run, spool } = await arrange(t)
    const script = report(t, run, spool, { phases: [{ value: 0.5 }], end: 'finish' })
    for (const goal of [300, 600]) {
      await until(`${goal} points have arrived`, withinMs, async () =>
        (await storedPoints(forge, run.run_id)).length >= goal ? true : null,
      )
      await forge.kill()
      await forge.start()
    }
    script.goOn()
    const steps = await script.phase(0)
    t.is(await script.ended, 0)
    await arrives(t, forge, run, expected(steps, 0.5))
    t.deepEqual(await readdir(spool), [])
  },
)

test.serial('points logged while the server is down arrive after the earlier ones', async t => {
  const { forge, run, spool } = await arrange(t)
  const script = report(t, run, spool, {
    phases: [
      { steps: 1000, value: 1, after: 'flush' },
      { steps: 1000, value: 2, from: 500, after: 'spool' },
      { steps: 500, value: 3, from: 1200, wait: false },
    ],
    end: 'finish',
  })
  await script.phase(0)
  await forge.kill()
  script.goOn()
  await script.phase(1)
  await forge.start()
  script.goOn()
  t.is(await script.ended, 0)
  await arrives(
    t,
    forge,
    run,
    new Map([...expected(500, 1), ...expected(1200, 2, 500), ...expected(1700, 3, 1200)]),
  )
  t.deepEqual(await readdir(spool), [])
})

test.serial(
  'values of a process that died offline are overwritten by the process that resumes its run',
  async t => {
    const { forge, run, spool } = await arrange(t)
    await forge.stop()
    const phases = [{ steps: 800, value: 1, after: 'spool' as const, wait: false }]
    t.is(await report(t, run, spool, { phases, end: 'vanish' }).ended, 9)
    await forge.start()
    const resumed = { steps: 800, value: 2, from: 400, wait: false }
    t.is(await report(t, run, spool, { phases: [resumed], end: 'finish' }).ended, 0)
    await arrives(t, forge, run, new Map([...expected(400, 1), ...expected(1200, 2, 400)]))
    t.deepEqual(await readdir(spool), [])
  },
)

test.serial(
  'reports left by a run that ended offline are sent by `python -m forge sync`',
  async t => {
    const { forge, run, spool } = await arrange(t)
    await forge.stop()
    const phases = [{ steps: 700, value: 1, wait: false }]
    t.is(await report(t, run, spool, { phases, end: 'finish', timeout: 1 }).ended, 0)
    t.is((await readdir(spool)).length, 1)
    await forge.start()
    const sync = python(t, ['-m', 'forge', 'sync'], { FORGE_SPOOL_DIR: spool })
    t.is(await exitCode(sync), 0)
    await arrives(t, forge, run, expected(700, 1))
    t.deepEqual(await readdir(spool), [])
  },
)

test.serial('a run reports its parameters, its start and its end', async t => {
  const { forge, run, spool } = await arrange(t)
  const phases = [{ steps: 10, value: 1, after: 'flush' as const }]
  const script = report(t, run, spool, { phases, end: 'raise' })
  await script.phase(0)
  await until(
    'the run is seen to run',
    withinMs,
    async () => (await state(forge, run)) === 'running',
  )
  const { body } = await forge.call('GET', `/api/runs/${run.run_id}/hparams`)
  t.like(body, { params: { lr: 0.1, 'model.depth': 4 } })
  script.goOn()
  t.is(await script.ended, 1)
  await until('the run has failed', withinMs, async () => (await state(forge, run)) === 'failed')
})

// Each test starts a server and a Python; they run one at a time to leave capacity for the other files.
async function arrange(t: ExecutionContext) {
  t.timeout(patient(400_000))
  const forge = await startForgeProcess(t)
  const { body: run } = await forge.call<Run>('POST', '/api/runs', { body: { project: 'demo' } })
  const spool = await mkdtemp(join(tmpdir(), 'forge-spool-'))
  t.teardown(() => rm(spool, { recursive: true, force: true }))
  return { forge, run, spool }
}

function report(t: ExecutionContext, run: Run, spool: string, plan: Plan) {
  const script = join(import.meta.dirname, 'report.py')
  const child = python(t, [script, JSON.stringify(plan)], { ...run.env, FORGE_SPOOL_DIR: spool })
  const ended = exitCode(child)
  const steps = new Map<number, number>()
  if (child.stdout)
    createInterface(child.stdout).on('line', line => {
      const [word, number, count] = line.split(' ')
      if (word === 'phase') steps.set(Number(number), Number(count))
    })
  return {
    ended,
    /** Steps logged by the end of the phase. */
    phase: (number: number) =>
      until(`phase ${number} is over`, withinMs, () => {
        if (child.exitCode) throw new Error(`the script ended with ${child.exitCode}`)
        return steps.get(number)
      }),
    goOn: () => child.stdin?.write('\n'),
  }
}

function python(t: ExecutionContext, args: string[], env: Record<string, string>): ChildProcess {
  const { PATH, HOME } = process.env
  const child = spawn('python3', args, {
    env: { PATH, HOME, PYTHONPATH: client, PYTHONDONTWRITEBYTECODE: '1', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stderr.on('data', chunk => t.log(String(chunk).trim()))
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

function exitCode(child: ChildProcess): Promise<number | null> {
  return new Promise(resolve => child.once('exit', resolve))
}

/** `key step` → value, for the steps from `from` up to `steps`. */
function expected(steps: number, value: number, from = 0): Map<string, number> {
  const points = new Map<string, number>()
  for (let step = from; step < steps; step++)
    for (const key of keys) points.set(`${key} ${step}`, value + step)
  return points
}

async function arrives(
  t: ExecutionContext,
  forge: Forge,
  run: Run,
  points: Map<string, number>,
): Promise<void> {
  const found = await until('all points can be read', withinMs, async () => {
    const there = await storedPoints(forge, run.run_id)
    return there.length >= points.size && there
  })
  t.is(found.length, points.size, 'each point is there once')
  const values = new Map(found.map(({ key, step, value }) => [`${key} ${step}`, value]))
  t.deepEqual(
    [...points].filter(([point, value]) => values.get(point) !== value),
    [],
    'each with the value logged last',
  )
}

async function state(forge: Forge, run: Run): Promise<string> {
  const { body } = await forge.call<{ state: string }>('GET', `/api/runs/${run.run_id}`)
  return body.state
}
