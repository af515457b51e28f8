import { execFileSync } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import test from 'ava'
import { planInstallation, runStep } from '../../executor/preparation/python-install.ts'
import { type PythonProbe, probePython } from '../../executor/preparation/python-probe.ts'
import { folder, makeWheel, writeRecipe } from '../recipes/tiny-recipe.ts'
import { isAlive } from '../servers/processes.ts'
import { until } from '../servers/until.ts'

const full: PythonProbe = {
  executable: '/usr/bin/python3',
  prefixes: ['/usr'],
  version: '3.11.2',
  abi: 'cpython-311-x86_64',
  venv: true,
  ensurepip: true,
  virtualenv: true,
  pip: '23.0.1',
}
const wayOf = (probe: Partial<PythonProbe>, requirements: string | null = 'r.txt') =>
  planInstallation({ ...full, ...probe }, '/env', requirements).steps.map(step =>
    step
      .filter(word => !word.startsWith('--') || word === '--python' || word === '--target')
      .slice(0, 4),
  )

test('the host’s pip fills the environment where it is new enough', t => {
  t.deepEqual(wayOf({}), [
    ['/usr/bin/python3', '-m', 'venv', '/env'],
    ['/usr/bin/python3', '-m', 'pip', '--python'],
  ])
})

test('else its own pip does, then virtualenv, then a folder of packages', t => {
  t.deepEqual(wayOf({ pip: '22.2.1' })[1], ['/env/bin/python', '-m', 'pip', 'install'])
  t.deepEqual(wayOf({ pip: null })[1], ['/env/bin/python', '-m', 'pip', 'install'])
  t.deepEqual(wayOf({ pip: null, ensurepip: false })[0]?.slice(0, 3), [
    '/usr/bin/python3',
    '-m',
    'virtualenv',
  ])
  const toFolder = planInstallation(
    { ...full, venv: false, virtualenv: false, pip: '20.3.4' },
    '/env',
    'r.txt',
  )
  t.is(toFolder.packages, 'packages')
  t.true(toFolder.steps[0]?.includes('--target'))
})

test('without requirements nothing is installed, so pip is not needed', t => {
  t.deepEqual(wayOf({ pip: null, ensurepip: false, virtualenv: false }, null), [
    ['/usr/bin/python3', '-m', 'venv', '/env'],
  ])
  t.deepEqual(wayOf({ pip: null, venv: false, virtualenv: false }, null), [])
})

test('without any usable Python, the message says what is missing and how to install it', t => {
  const debian = { pip: null, ensurepip: false, virtualenv: false }
  t.throws(() => wayOf(debian), {
    message: /neither pip nor ensurepip.*apt-get install python3-venv/,
  })
  t.throws(() => wayOf({ ...debian, venv: false }), {
    message: /no venv, no virtualenv and no pip/,
  })
})

for (const [way, without] of [
  ['the host’s pip', {}],
  ['its own pip', { pip: null }],
  ['a folder of packages', { venv: false, virtualenv: false }],
] as const)
  test(`a package installed by ${way} can be imported`, async t => {
    const root = await folder(t)
    await writeRecipe(root, {
      'r.txt': '--no-index\n--find-links wheels\ntiny_package\n',
      'wheels/x': '',
    })
    makeWheel(path.join(root, 'wheels'), 'tiny_package')
    const probe = { ...(await probePython('python3')), ...without }
    const environment = path.join(root, 'environment')
    await mkdir(environment)
    const plan = planInstallation(probe, environment, path.join(root, 'r.txt'))
    for (const step of plan.steps) await runStep(step, root, () => {})
    const python = plan.python === null ? probe.executable : path.join(environment, plan.python)
    const PYTHONPATH = plan.packages === null ? '' : path.join(environment, plan.packages)
    const printed = execFileSync(
      python,
      ['-c', 'import tiny_package; print(tiny_package.answer)'],
      {
        env: { PYTHONPATH },
        encoding: 'utf8',
      },
    )
    t.is(printed, '42\n')
  })

test('an installation that is no longer wanted ends with the programs that it has started', async t => {
  const root = await folder(t)
  const unwanted = new AbortController()
  const started: number[] = []
  const step = ['sh', '-c', 'sleep 1000 & echo $!; wait']
  const installing = runStep(step, root, pid => started.push(Number(pid)), unwanted.signal)
  await until('it has started a program', 20_000, () => started.length > 0)
  unwanted.abort(new Error('the server stops'))
  await t.throwsAsync(installing, { message: 'the server stops' })
  await until('the program has ended', 20_000, () => started.every(pid => !isAlive(pid)))
  t.is(started.length, 1)
})
