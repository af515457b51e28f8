import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { createCgroup, removeCgroup } from '../../executor/node/cgroup.ts'
import { defaultMemory, limitGroup } from '../../executor/node/run-limits.ts'
import { exitOf, launch } from './attempts.ts'
import { isolationAt, openAt } from './bench.ts'

const mib = 1024 ** 2
const limits = { processes: 50, memory_bytes: 128 * mib }
const nowhere = () => null

async function folder(t: ExecutionContext): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'forge-limits-'))
  t.teardown(() => rm(made, { recursive: true, force: true, maxRetries: 10 }))
  return made
}

test('a group of version 2 gets the limits that its controllers offer, and no new file', async t => {
  const group = await folder(t)
  t.deepEqual(limitGroup(group, limits, nowhere).held, { processes: false, memory_bytes: false })
  for (const name of ['pids.max', 'memory.max']) await writeFile(path.join(group, name), '')
  const { held, further } = limitGroup(group, limits, nowhere)
  t.deepEqual({ held, further }, { held: { processes: true, memory_bytes: true }, further: [] })
  t.is(await readFile(path.join(group, 'memory.max'), 'utf8'), String(128 * mib))
  t.deepEqual((await readdir(group)).sort(), ['memory.max', 'pids.max'])
})

test('the server keeps a part of the memory', t => {
  const most = defaultMemory()
  t.true(most > 0)
  t.true(most <= Number(process.constrainedMemory() || Number.POSITIVE_INFINITY))
})

/** Whether this user may limit the memory of groups on this machine. */
const canLimit = (() => {
  const { cgroup, held } = createCgroup(`forge-test-limits-${process.pid}`, limits)
  removeCgroup(cgroup)
  return held.memory_bytes
})()

if (canLimit)
  test('a run that exceeds its memory ends as killed for lack of memory, and its groups are gone', async t => {
    const runs = path.join(await folder(t), 'runs')
    const isolation = await isolationAt(runs, 'landlock', { limits })
    t.deepEqual(
      isolation.gaps.filter(gap => gap === 'memory' || gap === 'processes'),
      [],
    )
    const executor = await openAt(runs, { isolation })
    const filling = 'held = []\nwhile len(held) < 300: held.append(b"x" * (1 << 20))'
    const ref = await executor.submit(launch({ command: ['/usr/bin/python3', '-c', filling] }))
    t.like(await exitOf(executor, ref), { signal: 'SIGKILL', oom_killed: true })
    const { cgroup } = JSON.parse(await readFile(path.join(runs, ref, 'claim-1.json'), 'utf8'))
    for (const { directory } of [cgroup, ...cgroup.further])
      await t.throwsAsync(readdir(directory), { code: 'ENOENT' })
  })
else
  test('without permission to limit memory, the trial says so', async t => {
    const runs = path.join(await folder(t), 'runs')
    const { mode, gaps } = await isolationAt(runs, 'auto')
    t.is(gaps.includes('memory'), mode !== 'none')
  })

test('groups are created next to the one in which systemd starts the server', async t => {
  const { cgroup, reason } = createCgroup(`forge-test-home-${process.pid}`)
  removeCgroup(cgroup)
  if (cgroup?.version !== 2) {
    t.log(reason)
    t.not(process.getuid?.(), 0, 'root can make groups')
    return
  }
  const service = `${cgroup.directory}.service`
  const server = path.join(service, 'server')
  await mkdir(service)
  t.teardown(() => rmdir(service))
  await mkdir(server)
  t.teardown(() => rmdir(server))
  const source = new URL('../../executor/node/cgroup.ts', import.meta.url)
  const program = `const { createCgroup, enterCgroup, leaveCgroup, removeCgroup } = await import(${JSON.stringify(source)})
    const { cgroup } = createCgroup('run', ${JSON.stringify(limits)})
    enterCgroup(cgroup)
    const inside = (await import('node:fs')).readFileSync('/proc/self/cgroup', 'utf8')
    leaveCgroup(cgroup)
    removeCgroup(cgroup)
    console.log(JSON.stringify({ cgroup, inside }))`
  const script = `echo $$ > ${server}/cgroup.procs && exec "$@"`
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', '-e', program]
  const { stdout } = await promisify(execFile)('sh', ['-c', script, 'sh', ...command])
  const found = JSON.parse(stdout)
  t.like(found.cgroup, { version: 2, directory: path.join(service, 'run'), home: server })
  t.regex(found.inside, new RegExp(`^0::.*${path.basename(service)}/run$`, 'm'))
})
