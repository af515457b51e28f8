import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cgroup } from '../attempts/attempt-directory.ts'
import type { RunLimits } from '../attempts/enclosure.ts'
import { trySignal } from './processes.ts'
import { type Held, limitGroup, offerControllers } from './run-limits.ts'
import { yieldGroup } from './yield-processor.ts'

/** `cgroup` is null if this user may not create one; `reason` is for the operator; `held`: the limits that the kernel enforces. */
export type Created = { cgroup: Cgroup | null; reason: string | null; held: Held }

export function createCgroup(name: string, limits: RunLimits | null = null): Created {
  const none = { processes: false, memory_bytes: false }
  const reasons: string[] = []
  for (const { version, home, above } of homes()) {
    const directory = path.join(above, name)
    try {
      if (limits && version === 2) offerControllers(above)
      mkdirSync(directory)
      yieldGroup(directory)
      const limited = limits && limitGroup(directory, limits, ownGroup)
      const { held, further } = limited ?? { held: none, further: [] }
      return { cgroup: { version, directory, home, further }, reason: null, held }
    } catch (error) {
      reasons.push(String(error instanceof Error ? error.message : error))
    }
  }
  const reason = reasons.join('; ') || 'no control group hierarchy is mounted'
  return { cgroup: null, reason, held: none }
}

/** Moves this process into the group, and with it all later children. Throws if not permitted. */
export function enterCgroup({ directory, further = [] }: Cgroup): void {
  for (const group of [directory, ...further.map(one => one.directory)]) enter(group)
}

export function leaveCgroup({ home, further = [] }: Cgroup): void {
  for (const group of [home, ...further.map(one => one.home)]) enter(group)
}

function enter(group: string): void {
  writeFileSync(path.join(group, 'cgroup.procs'), String(process.pid))
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
  for (const { directory } of [cgroup, ...(cgroup.further ?? [])])
    try {
      rmdirSync(directory)
    } catch {
      // A member in uninterruptible sleep remains, or the group is gone: an empty directory is harmless.
    }
}

/** Number of members killed for lack of memory; null if the kernel does not count them here. */
export function oomKillsIn(cgroup: Cgroup): number | null {
  const groups = [cgroup, ...(cgroup.further ?? [])].map(({ directory }) => directory)
  const files = ['memory.events', 'memory.oom_control']
  for (const file of groups.flatMap(group => files.map(name => path.join(group, name)))) {
    try {
      const text = readFileSync(file, 'utf8')
      const count = /^oom_kill (\d+)$/m.exec(text)?.[1]
      if (count !== undefined) return Number(count)
    } catch {
      // A file of the other version, or the memory controller is not enabled.
    }
  }
  return null
}

/**
 * The group in which systemd starts the server with `DelegateSubgroup=server`. Its siblings can have limits; its children cannot, because
 * version 2 limits nothing below a group that has processes.
 */
const subgroup = 'server'

/**
 * Where this process may create groups (`above`), best first: version 2 (pure or hybrid), then the v1 freezer. `home` is its
 * own group.
 */
function homes(): { version: 1 | 2; home: string; above: string }[] {
  const own2 = placeIn(([id]) => id === '0')
  const mount2 = mountPoint(([, , type]) => type === 'cgroup2')
  const home2 = own2 === null || mount2 === null ? null : path.join(mount2, own2)
  const home1 = ownGroup('freezer')
  return [
    ...(home2 === null ? [] : [{ version: 2 as const, home: home2, above: aboveOf(home2) }]),
    ...(home1 === null ? [] : [{ version: 1 as const, home: home1, above: home1 }]),
  ]
}

const aboveOf = (home: string) => (path.basename(home) === subgroup ? path.dirname(home) : home)

/** The group of this process in the hierarchy of a controller of version 1. */
function ownGroup(controller: string): string | null {
  const own = placeIn(([, controllers]) => controllers?.split(',').includes(controller) ?? false)
  const mount = mountPoint(
    ([, , type, options]) =>
      type === 'cgroup' && (options?.split(',').includes(controller) ?? false),
  )
  return own === null || mount === null ? null : path.join(mount, own)
}

function placeIn(is: (fields: string[]) => boolean): string | null {
  const places = readLines('/proc/self/cgroup').map(line => line.split(':'))
  return places.find(is)?.[2] ?? null
}

function mountPoint(is: (fields: string[]) => boolean): string | null {
  const mounts = readLines('/proc/self/mounts').map(line => line.split(' '))
  return mounts.find(is)?.[1] ?? null
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
