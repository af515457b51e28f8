import { readFileSync } from 'node:fs'

/** Identifies one process for all time; a pid alone is reused, especially after a reboot. */
export type Identity = { pid: number; start_ticks: string; boot_id: string }

export type ProcessRow = {
  pid: number
  parent: number
  session: number
  /** State letter of proc(5); `Z` is a zombie. */
  state: string
  startTicks: string
}

export function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
}

/** Null if the process does not exist. */
export function identify(pid: number): Identity | null {
  const row = readRow(pid)
  return row && { pid, start_ticks: row.startTicks, boot_id: bootId() }
}

/** A zombie counts as ended: in a container whose init does not reap, it never goes away. */
export function isAlive(identity: Identity): boolean {
  if (identity.boot_id !== bootId()) return false
  const row = readRow(identity.pid)
  return row !== null && row.startTicks === identity.start_ticks && !hasEnded(row)
}

export function readRow(pid: number): ProcessRow | null {
  const stat = readProcFile(pid, 'stat')
  if (stat === null) return null
  // The second field, the program's name, may contain spaces and parentheses: proc(5).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state = '', parent, , session] = fields
  return {
    pid,
    parent: Number(parent),
    session: Number(session),
    state,
    startTicks: fields[19] ?? '',
  }
}

export function hasEnded(row: ProcessRow): boolean {
  return row.state === 'Z' || row.state === 'X'
}

export function readProcFile(pid: number, name: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return null
  }
}
