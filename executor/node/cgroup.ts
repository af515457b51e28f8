import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cgroup } from '../attempts/attempt-directory.ts'
import { trySignal } from './processes.ts'
import { yieldGroup } from './yield-processor.ts'

/** `cgroup` is null if this user may not create one; `reason` is for the operator. */
export function createCgroup(name: string): { cgroup: Cgroup | null; reason: string | null } {
  const reasons: string[] = []
  for (const { version, home } of homes()) {
    const directory = path.join(home, name)
    try {
      mkdirSync(directory)
      yieldGroup(directory)
      return { cgroup: { version, directory, home }, reason: null }
    } catch (error) {
      reasons.push(String(error instanceof Error ? error.message : error))
    }
  }
  return { cgroup: null, reason: reasons.join('; ') || 'no control group hierarchy is mounted' }
}

/** Moves this process into the group, and with it all later children. Throws if not permitted. */
export function enterCgroup(cgroup: Cgroup): void {
  writeFileSync(path.join(cgroup.directory, 'cgroup.procs'), String(process.pid))
}

export function leaveCgroup(cgroup: Cgroup): void {
  writeFileSync(path.join(cgroup.home, 'cgroup.procs'), String(process.pid))
}

/** Kills all members; version 2 does it atomically, so that forks cannot escape. */
export async function killCgroup(cgroup: Cgroup): Promise<void> {
  if (cgroup.version === 2 && tryWrite(path.join(cgroup.directory, 'cgroup.kill'), '1')) return
  // Version 1: frozen processes cannot fork, and receive SIGKILL once thawed.
  const state = path.join(cgroup.directory, 'freezer.state')
  if (tryWrite(state, 'FROZEN')) await untilFrozen(state)
  for (const pid of membersOf(cgroup)) trySignal(pid, 'SIGKILL')
  tryWrite(state, 'THAWED')
}

/** A process in uninterruptible sleep freezes late, and the others must not wait for it. */
const freezeMs = 500

async function untilFrozen(state: string): Promise<void> {
  const deadline = performance.now() + freezeMs
  while (readLines(state)[0] !== 'FROZEN' && performance.now() < deadline) await delay(2)
}

/** Empty if the group no longer exists. */
export function membersOf(cgroup: Cgroup): number[] {
  try {
    const text = readFileSync(path.join(cgroup.directory, 'cgroup.procs'), 'utf8')
    return text.split('\n').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

export function removeCgroup(cgroup: Cgroup | null): void {
  if (!cgroup) return
  try {
    rmdirSync(cgroup.directory)
  } catch {
    // A member in uninterruptible sleep remains, or the group is gone: an empty directory is harmless.
  }
}

/** Number of members killed for lack of memory; null if the kernel does not count them here. */
export function oomKillsIn(cgroup: Cgroup): number | null {
  for (const file of ['memory.events', 'memory.oom_control']) {
    try {
      const text = readFileSync(path.join(cgroup.directory, file), 'utf8')
      const count = /^oom_kill (\d+)$/m.exec(text)?.[1]
      if (count !== undefined) return Number(count)
    } catch {
      // A file of the other version, or the memory controller is not enabled.
    }
  }
  return null
}

/** Where this process may create groups, best first: version 2 (pure or hybrid), then the v1 freezer. */
function homes(): { version: 1 | 2; home: string }[] {
  const places = readLines('/proc/self/cgroup').map(line => line.split(':'))
  const mounts = readLines('/proc/self/mounts').map(line => line.split(' '))
  const found: { version: 1 | 2; home: string }[] = []
  const own2 = places.find(([id]) => id === '0')?.[2]
  const mount2 = mounts.find(([, , type]) => type === 'cgroup2')?.[1]
  if (own2 !== undefined && mount2 !== undefined)
    found.push({ version: 2, home: path.join(mount2, own2) })
  const own1 = places.find(([, controllers]) => controllers?.split(',').includes('freezer'))?.[2]
  const mount1 = mounts.find(
    ([, , type, options]) => type === 'cgroup' && options?.split(',').includes('freezer'),
  )?.[1]
  if (own1 !== undefined && mount1 !== undefined)
    found.push({ version: 1, home: path.join(mount1, own1) })
  return found
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}

function tryWrite(file: string, text: string): boolean {
  try {
    writeFileSync(file, text)
    return true
  } catch {
    return false
  }
}
