import { execFile } from 'node:child_process'
import { readFile, readlink, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** What `postmaster.pid` says (PostgreSQL, src/include/utils/pidfile.h). */
export type PidFile = { pid: number; port: number; ready: boolean }

const pathOf = (cluster: string) => join(cluster, 'postmaster.pid')

/** Null where there is none, or it is not yet written whole. */
export async function readPidFile(cluster: string): Promise<PidFile | null> {
  let text: string
  try {
    text = await readFile(pathOf(cluster), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  const lines = text.split('\n')
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid <= 0) return null
  return { pid, port: Number(lines[3] ?? 0), ready: lines[7]?.trim() === 'ready' }
}

/** The server of this cluster that is still running, whoever started it. */
export async function findPostmaster(cluster: string): Promise<PidFile | null> {
  const file = await readPidFile(cluster)
  return file && (await isPostmasterOf(file.pid, cluster)) ? file : null
}

/** A pid may have been given to another program since; a postmaster stands in its data directory. */
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
 * Makes a pid file whose number now belongs to another program pass for stale. PostgreSQL would refuse
 * to start; it takes a file as stale that names its own parent, which this process is about to be.
 * The file is not deleted: by its other lines PostgreSQL sees backends that outlived a killed server.
 */
export async function markPidFileStale(cluster: string): Promise<void> {
  const lines = (await readFile(pathOf(cluster), 'utf8')).split('\n')
  await writeFile(pathOf(cluster), [String(process.pid), ...lines.slice(1)].join('\n'))
}
