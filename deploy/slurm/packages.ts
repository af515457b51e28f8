import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

/** Debian's packages with what a cluster needs. */
export const packages = ['slurm-wlm', 'slurmrestd', 'slurm-wlm-jwt-plugin', 'munge']

const programs = ['slurmctld', 'slurmd', 'slurmrestd', 'munged', 'srun', 'scancel', 'scontrol']

/** Daemons are outside most people's search path. */
export const searchPath = [process.env.PATH ?? '', '/usr/sbin', '/usr/bin', '/sbin', '/bin'].join(
  delimiter,
)

/** Something is missing that the person starting a cluster can provide; `message` says how. */
export class SlurmMissing extends Error {}

/** Throws `SlurmMissing` if a cluster cannot be started here. */
export async function findSlurm(): Promise<void> {
  if (process.getuid?.() !== 0)
    throw new SlurmMissing('Only root can start a separate Slurm cluster.')
  const found = await Promise.all(programs.map(isThere))
  const missing = programs.filter((_, index) => !found[index])
  if (missing.length > 0)
    throw new SlurmMissing(
      `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not installed. On Debian: apt-get install --no-install-recommends ${packages.join(' ')}, or npm run slurm -- --install`,
    )
}

async function isThere(program: string): Promise<boolean> {
  for (const folder of searchPath.split(delimiter).filter(Boolean)) {
    const executable = await access(join(folder, program), constants.X_OK).then(
      () => true,
      () => false,
    )
    if (executable) return true
  }
  return false
}

/** Installs the packages with apt-get. Their services are not started, as if the machine were in single-user mode. */
export async function installSlurm(): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const options = { env, timeout: 600_000, maxBuffer: 64 * 1024 * 1024 }
  const run = promisify(execFile)
  try {
    await run('apt-get', ['update', '-qq'], options)
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], options)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new SlurmMissing(`The packages could not be installed: ${why.slice(0, 2000)}`)
  }
}
