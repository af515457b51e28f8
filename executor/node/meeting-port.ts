import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { membersOf } from './cgroup.ts'
import type { Quarry } from './kill-run.ts'
import { processesOfRun } from './processes.ts'

const lookEveryMs = 100
/** Rank 0 may prepare for a while before it listens; a program that never listens there is not watched forever. */
const watchMs = 15 * 60_000
/** A process that starts and ends may hold the port and be in no list. */
const looksThatCount = 2

/**
 * Watches the port of this machine at which the ranks of a run meet. Calls `taken` once, if a process that is not the run's listens
 * there before the run does: the ranks would connect to it. Returns a function that ends the watch.
 */
export function watchMeetingPort(port: number, quarry: Quarry, taken: () => void): () => void {
  const until = performance.now() + watchMs
  let strange = 0
  const look = () => {
    const listeners = listenersOn(port)
    const foreign = listeners.filter(one => !isOfRun(one, quarry))
    strange = foreign.length > 0 ? strange + 1 : 0
    const isSettled = listeners.length > 0 && foreign.length === 0
    if (strange < looksThatCount && !isSettled && performance.now() < until) return
    clearInterval(timer)
    if (strange >= looksThatCount) taken()
  }
  const timer = setInterval(look, lookEveryMs)
  return () => clearInterval(timer)
}

type Listener = { uid: number; inode: string }

/** proc_net(5): the fourth column is the state (0A listens), the eighth the user, the tenth the inode. */
function listenersOn(port: number): Listener[] {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return ['tcp', 'tcp6'].flatMap(table =>
    rowsOf(`/proc/net/${table}`)
      .filter(([, at = '', , state]) => at.endsWith(local) && state === '0A')
      .map(([, , , , , , , uid = '', , inode = '']) => ({ uid: Number(uid), inode })),
  )
}

function rowsOf(file: string): string[][] {
  try {
    const lines = readFileSync(file, 'utf8').split('\n').slice(1)
    return lines.map(line => line.trim().split(/\s+/))
  } catch {
    // A kernel without IPv6.
    return []
  }
}

function isOfRun({ uid, inode }: Listener, { mark, sessions, owner, cgroup }: Quarry): boolean {
  if (owner) return uid === owner.id
  const found = processesOfRun(mark, sessions, null).map(({ pid }) => pid)
  return [...found, ...(cgroup ? membersOf(cgroup) : [])].some(pid => holds(pid, inode))
}

function holds(pid: number, inode: string): boolean {
  try {
    const folder = `/proc/${pid}/fd`
    return readdirSync(folder).some(name => targetOf(`${folder}/${name}`) === `socket:[${inode}]`)
  } catch {
    // It has ended.
    return false
  }
}

function targetOf(link: string): string | null {
  try {
    return readlinkSync(link)
  } catch {
    return null
  }
}
