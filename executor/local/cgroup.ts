import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { trySignal } from './processes.ts'

/**
 * A control group that holds one attempt: what nothing inside can leave, unlike a process group or a session.
 * Recorded in the claim, so that the server can use it after its supervisor died.
 */
export type Cgroup = { version: 1 | 2; directory: string; home: string }

/** Null where this user may not make one; the reason is for the operator, nothing depends on it. */
export function createCgroup(name: string): { cgroup: Cgroup | null; reason: string | null } {
  const reasons: string[] = []
  for (const { version, home } of homes()) {
    const directory = path.join(home, name)
    try {
      mkdirSync(directory)
      return { cgroup: { version, directory, home }, reason: null }
    } catch (error) {
      reasons.push(String(error instanceof Error ? error.message : error))
    }
  }
  return { cgroup: null, reason: reasons.join('; ') || 'no control group hierarchy is mounted' }
}

/** Moves this process in; what it starts from now on is born inside. Throws where that is not allowed. */
export function enterCgroup(cgroup: Cgroup): void {
  writeFileSync(path.join(cgroup.directory, 'cgroup.procs'), String(process.pid))
}

export function leaveCgroup(cgroup: Cgroup): void {
  writeFileSync(path.join(cgroup.home, 'cgroup.procs'), String(process.pid))
}

/** Kills all inside; in version 2 the kernel does it in one step, so that forks do not outrun it. */
export function killCgroup(cgroup: Cgroup): void {
  if (cgroup.version === 2 && tryWrite(path.join(cgroup.directory, 'cgroup.kill'), '1')) return
  // Frozen processes still take SIGKILL in version 1 once thawed, and cannot fork meanwhile.
  tryWrite(path.join(cgroup.directory, 'freezer.state'), 'FROZEN')
  for (const pid of membersOf(cgroup)) trySignal(pid, 'SIGKILL')
  tryWrite(path.join(cgroup.directory, 'freezer.state'), 'THAWED')
}

/** Empty also when the group is gone. */
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
    // Somebody in uninterruptible sleep is still inside, or it is gone: an empty directory harms nobody.
  }
}

/** How many members the kernel killed for lack of memory; null where it does not count them here. */
export function oomKillsIn(cgroup: Cgroup): number | null {
  for (const file of ['memory.events', 'memory.oom_control']) {
    try {
      const text = readFileSync(path.join(cgroup.directory, file), 'utf8')
      const count = /^oom_kill (\d+)$/m.exec(text)?.[1]
      if (count !== undefined) return Number(count)
    } catch {
      // The other version's file, or the memory controller is not enabled here.
    }
  }
  return null
}

/** Where this process may make children, best first: version 2 by itself or beside version 1, then the freezer. */
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
