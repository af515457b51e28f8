import { readdir, readFile, readlink } from 'node:fs/promises'

/** A process of this machine, as shown in `/proc`; unreadable fields are empty, such as those of a process that has just ended. */
export type Process = {
  pid: number
  /** Its words, each followed by a zero byte; a zombie has none. */
  commandLine: string
  /** The folder that it works in. */
  directory: string
}

/** Empty where there is no `/proc`. */
export async function processes(): Promise<Process[]> {
  const names = await readdir('/proc').catch(() => [])
  return Promise.all(
    names
      .filter(name => /^\d+$/.test(name))
      .map(async pid => ({
        pid: Number(pid),
        commandLine: await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
        directory: await readlink(`/proc/${pid}/cwd`).catch(() => ''),
      })),
  )
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
