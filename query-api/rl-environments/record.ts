import { type Selectable, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { RlEnvironmentTables } from '../../projector/rl-environments/table.ts'
import { compareVersions } from '../../schemas/rl-environments/reference.ts'
import type {
  Baseline,
  RlEnvironmentVersion,
} from '../../schemas/rl-environments/rl-environments.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { mayReadRun } from '../rules/access.ts'
import { countRuns } from '../rules/count-runs.ts'
import type { Db } from './find.ts'

type Environment = Selectable<RlEnvironmentTables['rl_environments']>
type Version = Omit<Selectable<RlEnvironmentTables['rl_environment_versions']>, 'log'>
type Reading = { db: Db; caller: Person }

/** All but the log, which is long. */
export const versionColumns = [
  ...(['owner', 'name', 'version', 'ref', 'digest', 'state', 'manifest', 'archive_bytes'] as const),
  ...(['deployment_id', 'revision_id', 'error', 'rollouts', 'deprecated_reason'] as const),
  ...(['created_by', 'created_at', 'built_at'] as const),
] as const

/** The versions of an environment, newest first, by their numbers; there are at most 1,000. */
export async function versionsOf(
  { db }: Pick<Reading, 'db'>,
  { owner, name }: Pick<Environment, 'owner' | 'name'>,
): Promise<Version[]> {
  const rows = await db
    .selectFrom('rl_environment_versions')
    .select([...versionColumns])
    .where('owner', '=', owner)
    .where('name', '=', name)
    .execute()
  return rows.sort((a, b) => compareVersions(b.version, a.version))
}

/** Versions in the form of answers. */
export async function toVersions(
  reading: Reading,
  rows: readonly Version[],
  { visibility }: Pick<Environment, 'visibility'>,
): Promise<RlEnvironmentVersion[]> {
  const refs = rows.map(({ ref }) => ref)
  const { username, role } = reading.caller
  const using = sql`
    rl_environment_uses u join runs r using (run_id)
     where u.ref = asked.ref and r.deleted_at is null and ${mayReadRun(reading.caller)}`
  const counts = await countRuns(reading.db, refs, using)
  // A deployment may be hidden from people who see the environment.
  const shown = rows.map(row =>
    row.owner === username || role === 'admin' ? row : { ...row, ...withoutDeployment },
  )
  return shown.map(row => toVersion(row, visibility, counts.get(row.ref) ?? 0))
}

const withoutDeployment = { deployment_id: null, revision_id: null }

function toVersion(
  { manifest, rollouts, deployment_id, revision_id, created_at, built_at, ...row }: Version,
  visibility: 'private' | 'public',
  used_by_count: number,
): RlEnvironmentVersion {
  const baseline = baselineOf({ rollouts, deployment_id, revision_id })
  const { reward, ...described } = manifest
  return {
    ...row,
    ...described,
    ...{ environment: `${row.owner}/${row.name}`, visibility, baseline, used_by_count },
    reward: { ...reward, baseline_mean: baseline?.mean ?? null },
    created_at: toTimestamp(created_at),
    built_at: built_at && toTimestamp(built_at),
  }
}

/** Null unless all rollouts had a reward. */
function baselineOf({
  rollouts,
  deployment_id,
  revision_id,
}: Pick<Version, 'rollouts' | 'deployment_id' | 'revision_id'>): Baseline {
  const rewards = rollouts.flatMap(({ reward }) => reward ?? [])
  if (rewards.length === 0 || rewards.length < rollouts.length) return null
  const mean = rewards.reduce((sum, reward) => sum + reward / rewards.length, 0)
  const [min, max] = [Math.min(...rewards), Math.max(...rewards)]
  return { deployment_id, revision_id, mean, min, max, rewards }
}

/** Environments in the form of lists, which the caller may see. */
export async function toEnvironments(reading: Reading, rows: readonly Environment[]) {
  return Promise.all(rows.map(row => toEnvironment(reading, row)))
}

export async function toEnvironment(reading: Reading, row: Environment) {
  const { owner, name, visibility } = row
  const versions = await versionsOf(reading, row)
  const [newest = null] = await toVersions(reading, versions.slice(0, 1), row)
  const { username, role } = reading.caller
  return {
    ...{ environment: `${owner}/${name}`, owner, name, visibility },
    may_write: owner === username || role === 'admin',
    ...{ versions: versions.length, newest },
    created_at: toTimestamp(row.created_at),
    updated_at: toTimestamp(row.updated_at),
  }
}

type Use = {
  run_id: string
  name: string
  owner: string
  state: string
  digest: string
  weight: number
  created_at: Date
}

/** Runs that used a version, the newest first, as far as the caller may read them. */
export async function readUses(
  { db, caller }: Reading,
  { ref, limit, offset }: { ref: string; limit: number; offset: number },
) {
  const uses = sql`
    select r.run_id, coalesce(r.name, r.short_id) as name, r.owner, r.state, u.digest, u.weight, r.created_at
      from rl_environment_uses u join runs r using (run_id)
     where u.ref = ${ref} and r.deleted_at is null and ${mayReadRun(caller)}`
  const { rows } = await sql<Use>`
    select * from (${uses}) used order by created_at desc, run_id limit ${limit} offset ${offset}`.execute(
    db,
  )
  const counted = await sql<{ count: number }>`
    select count(*)::int as count from (select from (${uses}) used limit 10001) found`.execute(db)
  return {
    rows: rows.map(row => ({ ...row, created_at: toTimestamp(row.created_at) })),
    counted: counted.rows[0]?.count ?? 0,
  }
}
