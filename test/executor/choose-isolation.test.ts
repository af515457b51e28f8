import { openSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Enclosure } from '../../executor/attempts/enclosure.ts'
import { bubblewrapArguments } from '../../executor/node/bubblewrap.ts'
import { deviceFiles } from '../../executor/node/gpus.ts'
import { describeIsolation, enclosureOf } from '../../executor/node/isolation.ts'
import { markVariable, processesOfRun, trySignal } from '../../executor/node/processes.ts'
import { RunIdentities } from '../../executor/node/run-identity.ts'
import { startCommand } from '../../executor/node/start-command.ts'
import { isolationAt } from './bench.ts'
import { whatHolds } from './what-holds.ts'

async function runsFolder(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'forge-choice-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return path.join(folder, 'runs')
}

test('auto takes the first isolation that works, and none must be chosen explicitly', async t => {
  const holds = await whatHolds()
  const first = (['bubblewrap', 'user', 'landlock'] as const).find(mode => holds[mode] === null)
  const chosen = await isolationAt(await runsFolder(t), 'auto')
  t.is(chosen.mode, first ?? 'none')
  const { mode, notice } = describeIsolation(await isolationAt(await runsFolder(t), 'none'))
  t.is(mode, 'none')
  t.regex(
    notice ?? '',
    /not isolated: submitting a job is a shell on the server\. It was requested/,
  )
})

test('if no isolation holds, the reasons are given, and an isolation required by name stops the start', async t => {
  const runs = await runsFolder(t)
  const nothing = await isolationAt(runs, 'auto', { python: null })
  t.is(nothing.mode, 'none')
  t.regex(
    describeIsolation(nothing).notice ?? '',
    /shell on the server.*bubblewrap: there is no Python; user: .*; landlock: there is no Python/,
  )
  await t.throwsAsync(isolationAt(runs, 'bubblewrap', { python: null }), {
    message: /SERVICE_LOCAL_ISOLATION=bubblewrap does not work here: there is no Python/,
  })
})

test('an isolation that does not protect the server’s files fails its trial', async t => {
  const runs = await runsFolder(t)
  // With the runs' folder open to all runs, Landlock allows forbidden access.
  const open = isolationAt(runs, 'landlock', { readable: [runs], hidden: [] })
  await t.throwsAsync(open, { message: /it can read the files of the server|landlock/i })
})

test('a program without a mark, as in a trial, is not given an empty one', async t => {
  const { mode, ground } = await isolationAt(await runsFolder(t), 'auto')
  const [work, tmp] = ['work', 'tmp'].map(name => path.join(ground.runsDirectory, name))
  if (work === undefined || tmp === undefined) throw new Error('no folders')
  for (const folder of [work, tmp]) await mkdir(folder)
  const own = { identity: null, work, tmp, readable: [], writable: [], devices: [] }
  const [stdout, stderr] = [openSync(path.join(work, 'out'), 'w'), openSync('/dev/null', 'w')]
  const program = { command: ['sleep', '60'], env: { PATH: '/usr/bin:/bin' }, cwd: work }
  const around = await enclosureOf({ mode, ground }, own)
  const started = await startCommand({ ...program, stdout, stderr }, around)
  const rows = processesOfRun('no such mark', [started.pid], null)
  const parents = rows.flatMap(row => [row.pid, row.parent]).filter(pid => pid !== process.pid)
  const marked = parents.filter(pid =>
    readFileSync(`/proc/${pid}/environ`, 'utf8').includes(markVariable),
  )
  trySignal(-started.pid, 'SIGKILL')
  t.deepEqual(marked, [])
  t.true(parents.length > 0)
  await started.ended
})

const enclosure = (part: Partial<Enclosure>): Enclosure => ({
  mode: 'bubblewrap',
  python: '/usr/bin/python3',
  identity: null,
  system: ['/usr', '/opt'],
  hidden: [],
  readable: [],
  writable: ['/data/runs/a/1/work'],
  devices: [],
  tmp: '/data/runs/a/1/tmp',
  ...part,
})

test('only the devices that a run holds are there, and root keeps nothing but the change of its user', t => {
  const held = bubblewrapArguments(enclosure({ devices: ['/dev/nvidia2', '/dev/nvidiactl'] }))
  t.deepEqual(
    held.filter(part => part.startsWith('/dev/nvidia')),
    ['/dev/nvidia2', '/dev/nvidia2', '/dev/nvidiactl', '/dev/nvidiactl'],
  )
  t.true(held.includes('--unshare-user'))
  const asRoot = bubblewrapArguments(enclosure({ identity: { id: 1_900_000_000, groups: [] } }))
  t.regex(asRoot.join(' '), /--cap-drop ALL --cap-add CAP_SETUID --cap-add CAP_SETGID/)
  t.false(asRoot.includes('--unshare-user'))
})

test('a GPU is known by its place on the bus, its device by the number that the driver gave it', async t => {
  const root = path.dirname(await runsFolder(t))
  const [dev, driver] = [path.join(root, 'dev'), path.join(root, 'gpus')]
  await mkdir(dev)
  for (const name of ['null', 'nvidia0', 'nvidia1', 'nvidia2', 'nvidiactl', 'nvidia-uvm'])
    await writeFile(path.join(dev, name), '')
  for (const [place, minor] of Object.entries({ '0000:17:00.0': 2, '0000:65:00.0': 0 })) {
    await mkdir(path.join(driver, place), { recursive: true })
    await writeFile(
      path.join(driver, place, 'information'),
      `Model: \t\t NVIDIA H200\nDevice Minor: \t ${minor}\n`,
    )
  }
  const names = async (indexes: number[]) =>
    (await deviceFiles(indexes, { dev, driver })).map(file => path.basename(file))
  t.deepEqual(await names([0]), ['nvidia2', 'nvidia-uvm', 'nvidiactl'])
  t.deepEqual(await names([1]), ['nvidia0', 'nvidia-uvm', 'nvidiactl'])
  t.deepEqual(await names([0, 1]), ['nvidia2', 'nvidia0', 'nvidia-uvm', 'nvidiactl'])
})

if (process.getuid?.() === 0)
  test('each run has its own user, the same at every attempt and for every server', async t => {
    const runs = await runsFolder(t)
    await isolationAt(runs, 'none')
    const ids = { first: 1_900_000_000, count: 16 }
    const [one, other] = [new RunIdentities(runs, ids), new RunIdentities(runs, ids)]
    const found = await Promise.all([one.of('run_a'), other.of('run_a'), one.of('run_a')])
    t.is(new Set(found).size, 1)
    const names = Array.from({ length: 14 }, (_, index) => `run_${index}`)
    const all = [found[0], ...(await Promise.all(names.map(name => one.of(name))))]
    t.is(new Set(all).size, 15)
    await t.throwsAsync(one.of('run_more'), { message: /all 16 user ids for runs are taken/ })
    await rm(path.join(runs, 'run_3'), { recursive: true })
    t.is(await one.of('run_more'), all[4] ?? 0)
  })
