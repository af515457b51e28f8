import { readdirSync } from 'node:fs'
import { hasEnded, type ProcessRow, readProcFile, readRow } from '../attempts/process-identity.ts'

/** Marks every process of a run, whatever group or session it moves to. */
export const markVariable = 'FORGE_RUN_MARK'

/**
 * The living processes of a run: processes with its mark in the environment, members of its sessions, and the
 * descendants of both, which may have cleared their environment. If the run has its own user, also everything of
 * that user: a process cannot give up its identity.
 */
export function processesOfRun(
  mark: string,
  sessions: readonly number[],
  owner: number | null,
): ProcessRow[] {
  const rows = processTable().filter(row => !hasEnded(row))
  const found = new Set<number>()
  for (const row of rows)
    if (sessions.includes(row.session) || hasMark(row.pid, mark) || hasUser(row.pid, owner))
      found.add(row.pid)
  for (let before = -1; before !== found.size; ) {
    before = found.size
    for (const row of rows) if (found.has(row.parent)) found.add(row.pid)
  }
  return rows.filter(row => found.has(row.pid))
}

/** Sends the signal unless the pid was reused by another process. */
export function signalProcess(row: ProcessRow, signal: NodeJS.Signals): void {
  if (readRow(row.pid)?.startTicks === row.startTicks) trySignal(row.pid, signal)
}

/** A negative pid is a process group (kill(2)). A missing target is not an error. */
export function trySignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Ended (ESRCH), or changed its user (EPERM); a cgroup still reaches the latter.
  }
}

function processTable(): ProcessRow[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(name => readRow(Number(name)))
    .filter(row => row !== null)
}

/** An empty mark matches no process. */
function hasMark(pid: number, mark: string): boolean {
  if (mark === '') return false
  const environment = readProcFile(pid, 'environ')
  return environment !== null && `\0${environment}\0`.includes(`\0${markVariable}=${mark}\0`)
}

/** Whether one of its real, effective and saved user is this one. */
function hasUser(pid: number, user: number | null): boolean {
  if (user === null) return false
  const ids = /^Uid:\s+(.*)$/m.exec(readProcFile(pid, 'status') ?? '')?.[1] ?? ''
  return ids.split(/\s+/).includes(String(user))
}
