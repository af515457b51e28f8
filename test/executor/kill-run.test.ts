import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import type { Cgroup } from '../../executor/attempts/attempt-directory.ts'
import { identify, isAlive } from '../../executor/attempts/process-identity.ts'
import { createCgroup, membersOf, removeCgroup } from '../../executor/node/cgroup.ts'
import { killRun } from '../../executor/node/kill-run.ts'
import { markVariable, processesOfRun } from '../../executor/node/processes.ts'
import { until } from '../servers/until.ts'
import { commandLinesWith } from './attempts.ts'
import { systemPython as python } from './bench.ts'
import { forkChain, within } from './fork-chain.ts'

/** A process with children in and out of its session, all with an id in their command lines. */
async function tree(mark: string): Promise<{ id: string; pid: number }> {
  const id = randomUUID()
  const loop = (name: string) => `sh -c 'while :; do sleep 0.05; done; : ${id} ${name}' &`
  const script = `${loop('child')} setsid ${loop('escapee')} env -i ${loop('bare')} wait`
  const env = { PATH: process.env.PATH, [markVariable]: mark }
  const child = spawn('sh', ['-c', script], { env, detached: true, stdio: 'ignore' })
  await until('all are there', 50_000, async () => (await commandLinesWith(id)).length === 4)
  return { id, pid: child.pid ?? 0 }
}

test('without a control group the mark finds everything that a run started', async t => {
  const mark = `run_x/1/${randomUUID()}`
  const { id } = await tree(mark)
  t.is(await killRun({ mark, cgroup: null, sessions: [], owner: null }), 0)
  t.deepEqual(await commandLinesWith(id), [])
})

test('a mark matches exactly: an attempt is not one whose name has it as a prefix', async t => {
  const mark = `run_x/1/${randomUUID()}`
  const { id, pid } = await tree(mark)
  t.deepEqual(processesOfRun(mark.slice(0, -1), [], null), [])
  t.deepEqual(processesOfRun('', [], null), [])
  t.true(processesOfRun(mark, [], null).length >= 4)
  t.true(processesOfRun('no such mark', [pid], null).length >= 3, 'its session, by number')
  await killRun({ mark, cgroup: null, sessions: [pid], owner: null })
  t.deepEqual(await commandLinesWith(id), [])
})

test('an empty mark matches no process', async t => {
  const env = { PATH: process.env.PATH, [markVariable]: '' }
  const stranger = spawn('sleep', ['60'], { env, stdio: 'ignore' })
  t.teardown(() => stranger.kill('SIGKILL'))
  await until('it runs', 50_000, async () => identify(stranger.pid ?? 0) !== null)
  t.false(processesOfRun('', [], null).some(({ pid }) => pid === stranger.pid))
  const quarry = { mark: '', cgroup: null, sessions: [], owner: null }
  await t.throwsAsync(killRun(quarry), { message: /without a mark/ })
  t.is(stranger.exitCode ?? stranger.signalCode, null, 'it lives')
})

test('a control group, where this user may make one, is emptied and removed', async t => {
  const { cgroup, reason } = createCgroup(`forge-test-${process.pid}-${Date.now()}`)
  if (!cgroup) {
    t.truthy(reason, 'and says why not')
    return
  }
  const id = randomUUID()
  const loop = ['/bin/sh', '-c', `while :; do /bin/sleep 0.05; done; : ${id}`]
  const [program = '', ...args] = within(cgroup, ['setsid', 'env', '-i', ...loop])
  spawn(program, args, { stdio: 'ignore' })
  await until('it runs', 50_000, async () => (await commandLinesWith(id)).length > 0)
  t.true(membersOf(cgroup).length > 0)
  t.is(await killRun({ mark: 'no such mark', cgroup, sessions: [], owner: null }), 0)
  t.deepEqual(await commandLinesWith(id), [])
  removeCgroup(cgroup)
  t.deepEqual(membersOf(cgroup), [])
})

test('a process is distinguished from a later one with its pid, and a zombie counts as ended', async t => {
  const own = identify(process.pid)
  if (!own) throw new Error('no /proc')
  t.true(isAlive(own))
  t.false(isAlive({ ...own, start_ticks: '1' }))
  t.false(isAlive({ ...own, boot_id: 'another boot' }))
  t.is(identify(2 ** 22 + 1), null)
  // The child ends when its parent has become a program that never reaps.
  const orphan = 'sh -c "until grep -q sleep /proc/\\$PPID/comm; do :; done"'
  const parent = spawn('sh', ['-c', `${orphan} & echo $!; exec sleep 60`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line] = await parent.stdout.take(1).toArray()
  const pid = Number(String(line))
  const child = await until('the child ended', 50_000, async () => {
    const identity = identify(pid)
    return identity && !isAlive(identity) ? identity : null
  })
  t.is(child.pid, pid)
  parent.kill('SIGKILL')
})

if (process.getuid?.() === 0)
  test('a chain of forks is ended by the user of its run, regardless of session and mark', async t => {
    const owner = 1_900_077_078
    const { mark, grows } = await forkChain(t, { uid: owner, cgroup: null })
    t.is(await killRun({ mark, cgroup: null, sessions: [], owner: { id: owner, python } }), 0)
    // A kill that is given up, after ten seconds, leaves the chain growing.
    t.false(await grows())
  })

test('a chain of forks is ended with its control group, frozen first in version 1', async t => {
  const name = `forge-chain-${process.pid}`
  const home = '/sys/fs/cgroup/freezer'
  const groups = [createCgroup(name).cgroup, freezerAt(home, name)].filter(one => one !== null)
  t.log(groups.map(({ version }) => version))
  for (const cgroup of groups) {
    const { mark, grows } = await forkChain(t, { uid: null, cgroup })
    t.is(await killRun({ mark, cgroup, sessions: [], owner: null }), 0)
    t.false(await grows())
    removeCgroup(cgroup)
  }
  t.deepEqual(
    groups.filter(({ directory }) => existsSync(directory)),
    [],
  )
})

function freezerAt(home: string, name: string): Cgroup | null {
  const directory = path.join(home, name)
  try {
    mkdirSync(directory)
    return { version: 1, directory, home }
  } catch {
    return null
  }
}

test('processes left by a run’s user are found by the user alone', async t => {
  const owner = 1_900_077_077
  if (process.getuid?.() !== 0) {
    t.deepEqual(processesOfRun('no such mark', [], owner), [], 'only root makes users')
    return
  }
  const id = randomUUID()
  const loop = `while :; do /bin/sleep 0.05; done; : ${id}`
  // In a separate session, without the mark, and with a parent that has ended.
  spawn('setsid', ['/bin/sh', '-c', `(/bin/sh -c '${loop}' &) &`], {
    uid: owner,
    gid: owner,
    env: {},
    cwd: '/',
    stdio: 'ignore',
  })
  await until('it runs', 50_000, async () => (await commandLinesWith(id)).length === 1)
  t.deepEqual(processesOfRun('no such mark', [], owner - 1), [])
  const quarry = { mark: 'no such mark', cgroup: null, sessions: [] }
  t.is(await killRun({ ...quarry, owner: { id: owner, python: null } }), 0)
  t.deepEqual(await commandLinesWith(id), [])
})
