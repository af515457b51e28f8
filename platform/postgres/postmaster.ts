import { execFile } from 'node:child_process'
import { readlinkSync, realpathSync } from 'node:fs'
import { readFile, readlink, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The content of `postmaster.pid` (PostgreSQL, src/include/utils/pidfile.h). */
export type PidFile = { pid: number; port: number; ready: boolean }

const pathOfPidFile = (cluster: string) => join(cluster, 'postmaster.pid')

/** Null if there is none, or it has no process id yet. */
export async function readPidFile(cluster: string): Promise<PidFile | null> {
  let text: string
  try {
    text = await readFile(pathOfPidFile(cluster), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  const lines = text.split('\n')
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid <= 0) return null
  return { pid, port: Number(lines[3] ?? 0), ready: lines[7]?.trim() === 'ready' }
}

/** The running server of this cluster, no matter which process started it. */
export async function findPostmaster(cluster: string): Promise<PidFile | null> {
  const file = await readPidFile(cluster)
  return file && (await isPostmasterOf(file.pid, cluster)) ? file : null
}

/** The pid may have been reused for another program; a postmaster's working directory is its data directory. */
export async function isPostmasterOf(pid: number, cluster: string): Promise<boolean> {
  try {
    if (process.platform === 'linux')
      return (await readlink(`/proc/${pid}/cwd`)) === (await realpath(cluster))
    const { stdout } = await run('ps', ['-p', String(pid), '-o', 'command='])
    return stdout.includes('postgres') && stdout.includes(cluster)
  } catch {
    return false
  }
}

/**
 * Synchronous variant for the exit of this process, when nothing can be awaited; on platforms other than Linux it
 * trusts the pid.
 */
export function isPostmasterNow(pid: number, cluster: string): boolean {
  try {
    if (process.platform === 'linux')
      return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster)
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/**
 * Makes PostgreSQL treat a pid file as stale although another program now has its pid; otherwise it would refuse to
 * start. A file that names PostgreSQL's own parent, as this process will be, counts as stale. The file is not deleted,
 * because its other lines inform PostgreSQL of backends that outlived a killed server.
 */
export async function markPidFileStale(cluster: string): Promise<void> {
  const lines = (await readFile(pathOfPidFile(cluster), 'utf8')).split('\n')
  await writeFile(pathOfPidFile(cluster), [String(process.pid), ...lines.slice(1)].join('\n'))
}
