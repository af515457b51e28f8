import { readdirSync, readFileSync } from 'node:fs'

/** Names one process for ever: a pid alone is used again, and after a reboot all of them are. */
export type Identity = { pid: number; start_ticks: string; boot_id: string }

export type ProcessRow = {
  pid: number
  parent: number
  session: number
  /** One letter of proc(5), `Z` for a process that ended and waits for its parent. */
  state: string
  startTicks: string
}

/** The variable by which everything a run started is found again, whatever group or session it moved to. */
export const markVariable = 'FORGE_RUN_MARK'

export function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
}

/** Null when there is no such process. */
export function identify(pid: number): Identity | null {
  const row = readRow(pid)
  return row && { pid, start_ticks: row.startTicks, boot_id: bootId() }
}

/** A zombie counts as ended: in a container whose first process does not reap, it stays for ever. */
export function isAlive(identity: Identity): boolean {
  if (identity.boot_id !== bootId()) return false
  const row = readRow(identity.pid)
  return row !== null && row.startTicks === identity.start_ticks && !hasEnded(row)
}

/**
 * What lives of a run: processes with its mark in the environment, members of its session, and the descendants of
 * both (they may have emptied their environment).
 */
export function processesOfRun(mark: string, session: number | null): ProcessRow[] {
  const rows = processTable().filter(row => !hasEnded(row))
  const found = new Set<number>()
  for (const row of rows) if (row.session === session || hasMark(row.pid, mark)) found.add(row.pid)
  for (let before = -1; before !== found.size; ) {
    before = found.size
    for (const row of rows) if (found.has(row.parent)) found.add(row.pid)
  }
  return rows.filter(row => found.has(row.pid))
}

/** Sends the signal unless the pid has gone to another process meanwhile. */
export function signalProcess(row: ProcessRow, signal: NodeJS.Signals): void {
  if (readRow(row.pid)?.startTicks === row.startTicks) trySignal(row.pid, signal)
}

/** A negative pid is a process group (kill(2)). A target that is gone is no error. */
export function trySignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Gone (ESRCH), or changed its user (EPERM); the cgroup, where there is one, still reaches the latter.
  }
}

function processTable(): ProcessRow[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(name => readRow(Number(name)))
    .filter(row => row !== null)
}

function readRow(pid: number): ProcessRow | null {
  const stat = readProcFile(pid, 'stat')
  if (stat === null) return null
  // The second field, the program's name, may itself hold spaces and parentheses: proc(5).
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

function hasEnded(row: ProcessRow): boolean {
  return row.state === 'Z' || row.state === 'X'
}

function hasMark(pid: number, mark: string): boolean {
  const environment = readProcFile(pid, 'environ')
  return environment !== null && `\0${environment}\0`.includes(`\0${markVariable}=${mark}\0`)
}

function readProcFile(pid: number, name: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return null
  }
}
