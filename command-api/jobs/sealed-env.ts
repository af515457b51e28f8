import type { Pool } from 'pg'
import type { SealedFor, SealingKeys } from '../../auth/sealing-keys.ts'
import { isSecret } from '../rules/secrets.ts'

type Env = Record<string, string>

/** The variables of a job as its row has them: values that look like secrets are sealed. */
export type StoredEnv = { env: Env; sealed_env: string | null }

const sealedFor = (run_id: string): SealedFor => ({ purpose: 'forge job variables', owner: run_id })

export function sealEnv(env: Env, run_id: string, sealing: SealingKeys): StoredEnv {
  const all = Object.entries(env)
  const secret = all.filter(([name, value]) => isSecret(name, value))
  if (secret.length === 0) return { env, sealed_env: null }
  return {
    env: Object.fromEntries(all.filter(([name, value]) => !isSecret(name, value))),
    sealed_env: sealing.seal(JSON.stringify(Object.fromEntries(secret)), sealedFor(run_id)),
  }
}

/** The submitted variables. Throws if they cannot be opened: the job must not run without them. */
export async function openEnv(
  { env, sealed_env }: StoredEnv,
  run_id: string,
  sealing: SealingKeys,
): Promise<Env> {
  if (sealed_env === null) return env
  const opened = await sealing.open(sealed_env, sealedFor(run_id))
  if (opened === null)
    throw new Error(
      `the secrets in its spec.env were sealed with a key that this server does not have: restore <data>/keys from a backup, or give all hosts the same keys, then submit the job again`,
    )
  return { ...env, ...JSON.parse(opened) }
}

const rowsAtOnce = 500

/** Seals what earlier versions, which may still run on other hosts, have stored in plain text. */
export async function sealEarlierEnvs(pool: Pool, sealing: SealingKeys): Promise<void> {
  for (let after = ''; ; ) {
    const { rows } = await pool.query<{ run_id: string; env: Env }>(
      `select run_id, env from write.job_state
        where env <> '{}' and sealed_env is null and run_id > $1 order by run_id limit ${rowsAtOnce}`,
      [after],
    )
    for (const { run_id, env } of rows) await sealRow(pool, run_id, env, sealing)
    const last = rows.at(-1)
    if (!last) return
    after = last.run_id
  }
}

/** Unless the job has ended meanwhile, which forgets the values. */
async function sealRow(pool: Pool, run_id: string, env: Env, sealing: SealingKeys): Promise<void> {
  const stored = sealEnv(env, run_id, sealing)
  if (stored.sealed_env === null) return
  await pool.query(
    'update write.job_state set env = $3, sealed_env = $4 where run_id = $1 and env = $2',
    [run_id, JSON.stringify(env), JSON.stringify(stored.env), stored.sealed_env],
  )
}
