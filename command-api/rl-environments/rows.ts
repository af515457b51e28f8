import type { RlEnvironmentEvent } from '../../events/rl-environments.ts'
import type { Transaction } from '../commit/event-store.ts'

type Changed = { events: readonly RlEnvironmentEvent[]; now: Date }

/** Writes the rows of environments that other rules read. */
export async function saveEnvironment(tx: Transaction, { events, now }: Changed): Promise<void> {
  for (const event of events) await saveEvent(tx, event, now)
}

function saveEvent(tx: Transaction, { type, data }: RlEnvironmentEvent, now: Date) {
  const { owner, name } = data
  switch (type) {
    case 'environment.published':
      return savePublished(tx, data)
    case 'environment.changed':
      return saveVisibility(tx, data)
    case 'environment.built':
      return saveState(tx, data, data.state)
    case 'environment.deprecated':
      return saveState(tx, data, 'deprecated')
    case 'environment.version_deleted':
      return tx.query(
        `update write.rl_environment_version set deleted_at = $4
          where owner = $1 and name = $2 and version = $3`,
        [owner, name, data.version, now],
      )
  }
}

type Published = Extract<RlEnvironmentEvent, { type: 'environment.published' }>['data']

async function savePublished(tx: Transaction, data: Published): Promise<void> {
  const { owner, name, version, digest, archive_sha256, archive_bytes } = data
  const { entry, args_schema, args_default, secrets_required, requirements } = data
  await saveVisibility(tx, data)
  const manifest = {
    ...{ entry, args_schema, args_default, secrets_required },
    has_requirements: requirements.length > 0,
  }
  await tx.query(
    `insert into write.rl_environment_version
       (owner, name, version, digest, state, archive_sha256, archive_bytes, manifest)
     values ($1, $2, $3, $4, 'building', $5, $6, $7)
     on conflict (owner, name, version) do update
       set state = excluded.state, archive_sha256 = excluded.archive_sha256,
           archive_bytes = excluded.archive_bytes, manifest = excluded.manifest`,
    [owner, name, version, digest, archive_sha256, archive_bytes, JSON.stringify(manifest)],
  )
}

const saveVisibility = (
  tx: Transaction,
  { owner, name, visibility }: Pick<Published, 'owner' | 'name' | 'visibility'>,
) =>
  tx.query(
    `insert into write.rl_environment (owner, name, visibility) values ($1, $2, $3)
     on conflict (owner, name) do update set visibility = excluded.visibility`,
    [owner, name, visibility],
  )

const saveState = (
  tx: Transaction,
  { owner, name, version }: Pick<Published, 'owner' | 'name' | 'version'>,
  state: string,
) =>
  tx.query(
    `update write.rl_environment_version set state = $4 where owner = $1 and name = $2 and version = $3`,
    [owner, name, version, state],
  )
