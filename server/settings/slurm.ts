import { isAbsolute, resolve } from 'node:path'
import {
  address,
  BadSetting,
  type Environment,
  givenOf,
  type Reader,
  type Settings,
  text,
  withoutEffect,
} from '../../platform/settings.ts'

export type SlurmConfig = {
  /** Address of slurmrestd; null: no Slurm. */
  slurmUrl: string | null
  /** Null: the user that this server runs as. */
  slurmUser: string | null
  /** The key of Slurm's `auth/jwt`, or a file with a token signed by it. */
  slurmJwtKeyFile: string | null
  slurmTokenFile: string | null
  /** Null: Slurm's defaults. */
  slurmPartition: string | null
  slurmAccount: string | null
  /** A folder that has the same path on all nodes. */
  slurmDir: string | null
}

const folder: Reader<string | null> = (value, name) => {
  if (value === undefined || value === '') return null
  if (isAbsolute(value)) return resolve(value)
  throw new BadSetting(`${name}=${value}: an absolute path is expected, the same on all nodes`)
}

export const slurmSettings: Settings<SlurmConfig> = {
  slurmUrl: ['SERVICE_SLURM_URL', address('the address of slurmrestd, such as http://head:6820,')],
  slurmUser: ['SERVICE_SLURM_USER', text(null)],
  slurmJwtKeyFile: ['SERVICE_SLURM_JWT_KEY_FILE', text(null)],
  slurmTokenFile: ['SERVICE_SLURM_TOKEN_FILE', text(null)],
  slurmPartition: ['SERVICE_SLURM_PARTITION', text(null)],
  slurmAccount: ['SERVICE_SLURM_ACCOUNT', text(null)],
  slurmDir: ['SERVICE_SLURM_DIR', folder],
}

/** Faults in the combination of Slurm settings, one line each. */
export function slurmFaults(env: Environment): string[] {
  const given = givenOf(slurmSettings, env)
  const has = (name: string) => given.includes(name)
  if (!has('SERVICE_SLURM_URL')) return withoutEffect(given, 'SERVICE_SLURM_URL')
  const faults: string[] = []
  if (has('SERVICE_SLURM_JWT_KEY_FILE') === has('SERVICE_SLURM_TOKEN_FILE'))
    faults.push(
      'SERVICE_SLURM_URL needs either SERVICE_SLURM_JWT_KEY_FILE or SERVICE_SLURM_TOKEN_FILE',
    )
  if (!has('SERVICE_SLURM_DIR'))
    faults.push(
      'SERVICE_SLURM_URL needs SERVICE_SLURM_DIR, a folder that all nodes share with this server',
    )
  return faults
}
