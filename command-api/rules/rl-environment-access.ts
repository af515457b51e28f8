import type { Pool } from 'pg'
import { Refusal } from '../../platform/refusal.ts'
import type { ArgsSchema, EnvironmentArgs } from '../../schemas/rl-environments/manifest.ts'
import type { EnvironmentName } from '../../schemas/rl-environments/reference.ts'
import {
  environmentReference,
  parseEnvironmentReference,
} from '../../schemas/rl-environments/reference.ts'
import type { RlEnvironmentState } from '../../schemas/rl-environments/rl-environments.ts'
import type { Transaction } from '../commit/event-store.ts'

type Asking = { username: string; role: string }

/** What jobs need of a version. */
export type EnvironmentOfJob = {
  /** `owner/name@version`. */
  ref: string
  digest: string
  state: RlEnvironmentState
  archive_sha256: string
  archive_bytes: number
  manifest: {
    entry: string
    args_schema: ArgsSchema
    args_default: EnvironmentArgs
    secrets_required: string[]
    has_requirements: boolean
  }
}

type Row = Omit<EnvironmentOfJob, 'ref'>

/**
 * The version that `owner/name@version` names; null if it is not there, or hidden from this person. Asked at preflight, at admission and
 * again at each launch.
 */
export async function resolveEnvironment(
  db: Pool | Transaction,
  ref: string,
  { username, role }: Asking,
): Promise<EnvironmentOfJob | null> {
  const wanted = parseEnvironmentReference(ref)
  if (!wanted) return null
  const { owner, name, version } = wanted
  const { rows } = await db.query<Row>({
    name: 'resolve_rl_environment',
    text: `select v.digest, v.state, v.archive_sha256, v.archive_bytes::float8 as archive_bytes, v.manifest
             from write.rl_environment e join write.rl_environment_version v using (owner, name)
            where e.owner = $1 and e.name = $2 and v.version = $3 and v.deleted_at is null
              and (e.owner = $4 or e.visibility = 'public' or $5)`,
    values: [owner, name, version, username, role === 'admin'],
  })
  const [row] = rows
  return row ? { ...row, ref: environmentReference(wanted) } : null
}

export const noSuchEnvironment = ({ owner, name }: EnvironmentName) =>
  new Refusal('not_found', `No such environment: ${owner}/${name}`)

/** Refuses callers who may not change the environment; if they may not see it either, it looks missing. */
export async function refuseUnlessEnvironmentWriter(
  db: Pool | Transaction,
  { owner, name }: EnvironmentName,
  { username, role }: Asking,
): Promise<void> {
  const { rows } = await db.query<{ visibility: string }>(
    'select visibility from write.rl_environment where owner = $1 and name = $2',
    [owner, name],
  )
  const mayWrite = username === owner || role === 'admin'
  if (!rows[0] || (!mayWrite && rows[0].visibility !== 'public'))
    throw noSuchEnvironment({ owner, name })
  if (!mayWrite)
    throw new Refusal(
      'forbidden',
      `Only ${owner} and admins may do that to the environment ${owner}/${name}`,
    )
}
