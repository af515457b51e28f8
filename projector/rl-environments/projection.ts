import type { Kysely, Updateable } from 'kysely'
import type { JobEvent } from '../../events/jobs.ts'
import type { RlEnvironmentEvent } from '../../events/rl-environments.ts'
import {
  type EnvironmentVersion,
  environmentReference,
} from '../../schemas/rl-environments/reference.ts'
import type { Handlers } from '../projection.ts'
import type { RlEnvironmentTables } from './table.ts'

type Tx = Kysely<RlEnvironmentTables>
type Events = RlEnvironmentEvent | Extract<JobEvent, { type: 'job.admitted' }>

export const rlEnvironmentProjection: Handlers<RlEnvironmentTables, Events> = {
  async 'environment.published'(tx, { data, occurred_at, actor }) {
    const { owner, name, version, digest, visibility, archive_bytes, deployment_id } = data
    const { title, entry, args_schema, args_default, reward, tools } = data
    const { secrets_required, requirements } = data
    await tx
      .insertInto('rl_environments')
      .values({ owner, name, visibility, created_at: occurred_at, updated_at: occurred_at })
      .onConflict(on =>
        on.columns(['owner', 'name']).doUpdateSet({ visibility, updated_at: occurred_at }),
      )
      .execute()
    const manifest = {
      ...{ title, entry, args_schema, args_default, reward, tools },
      ...{ secrets_required, requirements },
    }
    const published = {
      ...{ digest, state: 'building' as const, archive_bytes, deployment_id, revision_id: null },
      manifest: JSON.stringify(manifest),
      ...{ error: null, rollouts: '[]', log: '', deprecated_reason: null },
      ...{ created_by: actor.id, created_at: occurred_at, built_at: null },
    }
    await tx
      .insertInto('rl_environment_versions')
      .values({ owner, name, version, ref: environmentReference(data), ...published })
      .onConflict(on => on.columns(['owner', 'name', 'version']).doUpdateSet(published))
      .execute()
  },
  'environment.built': (tx, { data, occurred_at }) => {
    const { state, error, log, rollouts, revision_id } = data
    return updateVersion(tx, data, {
      ...{ state, error, log, revision_id, built_at: occurred_at },
      rollouts: JSON.stringify(rollouts),
    })
  },
  'environment.changed': (tx, { data: { owner, name, visibility }, occurred_at }) =>
    update(tx, { owner, name }, { visibility, updated_at: occurred_at }),
  'environment.deprecated': (tx, { data }) =>
    updateVersion(tx, data, { state: 'deprecated', deprecated_reason: data.reason }),
  async 'environment.version_deleted'(tx, { data, occurred_at }) {
    const { owner, name, version } = data
    await tx
      .deleteFrom('rl_environment_versions')
      .where(eb => eb.and({ owner, name, version }))
      .execute()
    await update(tx, data, { updated_at: occurred_at })
  },
  async 'job.admitted'(tx, { data: { run_id, spec } }) {
    for (const { ref, digest, weight, args } of spec.spec.environments) {
      if (digest === null) continue
      await tx
        .insertInto('rl_environment_uses')
        .values({ run_id, ref, digest, weight, args: JSON.stringify(args) })
        .onConflict(on => on.columns(['run_id', 'ref']).doNothing())
        .execute()
    }
  },
}

const update = (
  tx: Tx,
  { owner, name }: Pick<EnvironmentVersion, 'owner' | 'name'>,
  to: Updateable<RlEnvironmentTables['rl_environments']>,
) =>
  tx
    .updateTable('rl_environments')
    .set(to)
    .where(eb => eb.and({ owner, name }))
    .execute()

const updateVersion = (
  tx: Tx,
  { owner, name, version }: EnvironmentVersion,
  to: Updateable<RlEnvironmentTables['rl_environment_versions']>,
) =>
  tx
    .updateTable('rl_environment_versions')
    .set(to)
    .where(eb => eb.and({ owner, name, version }))
    .execute()
