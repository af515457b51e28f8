import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'

/** Ends what still runs of attempts whose folders are under `runs`: they outlive their server on purpose, but not its test. */
export async function endAttempts(runs: string): Promise<void> {
  const names = await readdir('/proc').catch(() => [])
  const pids = names.filter(name => /^\d+$/.test(name)).map(Number)
  await Promise.all(
    pids.map(async pid => {
      if (await belongs(pid, runs)) end(pid)
    }),
  )
}

/** By its command line, or by the folder that it works in; a process that has just ended has neither. */
async function belongs(pid: number, runs: string): Promise<boolean> {
  const folder = `${runs}/`
  const line = await readFile(join('/proc', String(pid), 'cmdline'), 'utf8').catch(() => '')
  const works = await readlink(join('/proc', String(pid), 'cwd')).catch(() => '')
  return line.includes(folder) || works.startsWith(folder)
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
