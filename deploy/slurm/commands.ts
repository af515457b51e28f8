import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { searchPath } from './packages.ts'

/** Runs one of Slurm's own commands, e.g. `scontrol`; returns its output. */
export type Command = (program: string, ...args: string[]) => Promise<string>

export const confOf = (folder: string): string => join(folder, 'slurm.conf')

/** `SLURM_CONF` distinguishes the processes of this cluster from those of others. */
export const environmentOf = (folder: string): Record<string, string> => ({
  PATH: searchPath,
  SLURM_CONF: confOf(folder),
  LANG: 'C.UTF-8',
})

export const commandsOf =
  (folder: string): Command =>
  async (program, ...args) => {
    const options = { env: environmentOf(folder), timeout: 30_000 }
    return (await promisify(execFile)(program, args, options)).stdout
  }

const jobsEndWithinMs = 15_000
const lookEveryMs = 100

/** Slurm ends the processes of its jobs; nobody would without it. */
export async function endJobs(command: Command): Promise<void> {
  const deadline = Date.now() + jobsEndWithinMs
  try {
    while ((await command('squeue', '-h', '-o', '%i')).trim() !== '' && Date.now() < deadline) {
      await command('scancel', '--full', '--signal=KILL', '--user=root')
      await command('scancel', '--user=root')
      await delay(lookEveryMs)
    }
  } catch {
    // Its controller is down.
  }
}
