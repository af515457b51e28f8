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
      })
      .onConflict(on => on.column('artifact_id').doUpdateSet({ ...facts, status: 'registered' }))
      .execute()
  },
  'artifact.verified': (tx, { data }) =>
    tx
      .updateTable('artifacts')
      .set({ status: 'verified' })
      .where('artifact_id', '=', data.artifact_id)
      .execute(),
  'artifact.missing': (tx, { data }) =>
    tx
      .updateTable('artifacts')
      .set({ status: 'missing' })
      .where('artifact_id', '=', data.artifact_id)
      .execute(),
}
