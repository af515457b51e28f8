import type { Kysely, Updateable } from 'kysely'
import type { ArtifactEvent } from '../../events/artifacts.ts'
import type { Handlers } from '../projection.ts'
import type { ArtifactTables } from './table.ts'

export const artifactProjection: Handlers<ArtifactTables, ArtifactEvent> = {
  'artifact.registered': (tx, { data, occurred_at, actor }) => {
    const facts = { ...data, metrics: JSON.stringify(data.metrics) }
    return tx
      .insertInto('artifacts')
      .values({
        ...facts,
        status: 'registered',
        created_at: occurred_at,
        registered_by: actor.type === 'run' ? 'ingest' : actor.id,
        deleted_by: null,
      })
      .onConflict(on =>
        on.column('artifact_id').doUpdateSet({
          ...facts,
          status: 'registered',
          deleted_at: null,
          deleted_by: null,
        }),
      )
      .execute()
  },
  'artifact.verified': (tx, { data }) => setStatus(tx, data, 'verified'),
  'artifact.missing': (tx, { data }) => setStatus(tx, data, 'missing'),
  'artifact.deletion_requested': (tx, { data, occurred_at, actor }) =>
    tx
      .updateTable('artifacts')
      .set({
        status: 'deleting',
        deleted_at: occurred_at,
        deleted_by: actor.type === 'user' ? actor.id : data.reason,
      })
      .where('artifact_id', '=', data.artifact_id)
      .execute(),
  'artifact.deleted': (tx, { data }) => setStatus(tx, data, 'deleted'),
}

type Status = Updateable<ArtifactTables['artifacts']>['status']

const setStatus = (
  tx: Kysely<ArtifactTables>,
  { artifact_id }: { artifact_id: string },
  status: Status,
) => tx.updateTable('artifacts').set({ status }).where('artifact_id', '=', artifact_id).execute()
