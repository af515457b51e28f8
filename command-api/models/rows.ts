import type { ModelEvent } from '../../events/models.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Transaction } from '../commit/event-store.ts'

/** Writes the rows of models that other rules read. */
export async function saveModel(
  tx: Transaction,
  { events, now }: { events: readonly ModelEvent[]; now: Date },
): Promise<void> {
  for (const event of events) await saveEvent(tx, event, now)
}

async function saveEvent(tx: Transaction, { type, data }: ModelEvent, now: Date): Promise<unknown> {
  switch (type) {
    case 'model.created':
      return tx.query('insert into write.model (name, project, owner) values ($1, $2, $3)', [
        ...[data.model, data.project, data.owner],
      ])
    case 'model.changed':
    case 'model.gates_overridden':
    case 'model.registration_failed':
      return
    case 'model.deleted':
      return tx.query('update write.model set deleted_at = $2 where name = $1', [data.model, now])
    case 'model.version_created':
      return tx.query(
        'insert into write.model_version (model, version, artifact_id, run_id) values ($1, $2, $3, $4)',
        [data.model, data.version, data.artifact_id, data.run_id],
      )
    case 'model.version_changed':
      return tx.query(
        'update write.model_version set is_archived = $3 where model = $1 and version = $2',
        [data.model, data.version, data.archived],
      )
    case 'model.alias_moved':
      return saveAlias(tx, data)
  }
}

type Moved = Extract<ModelEvent, { type: 'model.alias_moved' }>['data']

const saveAlias = (tx: Transaction, { model, alias, to_version }: Moved) =>
  to_version === null
    ? tx.query('delete from write.model_alias where model = $1 and alias = $2', [model, alias])
    : tx.query(
        `insert into write.model_alias (model, alias, version) values ($1, $2, $3)
         on conflict (model, alias) do update set version = excluded.version`,
        [model, alias, to_version],
      )

type Source = { run_id: string }

/**
 * The run of an artifact that may become a version. Its row stays locked until the commit, and a deletion takes the same lock:
 * either the deletion sees the version, or the version sees the deletion.
 */
export async function lockSource(
  tx: Transaction,
  { artifact_id, project }: { artifact_id: string; project: string },
): Promise<Source> {
  const { rows } = await tx.query<Source & { is_present: boolean }>(
    `select a.run_id, a.deleted_at is null and not a.is_missing as is_present
       from write.artifact a join write.resource r on r.kind = 'run' and r.id = a.run_id
      where a.artifact_id = $1 and r.project = $2 and r.deleted_at is null and a.kind <> 'eval_report'
        for share of a`,
    [artifact_id, project],
  )
  const [row] = rows
  if (!row)
    throw new Refusal('invalid', `Project ${project} has no such artifact: ${artifact_id}`, {
      code: 'model.source',
      hint: 'A version is made from an artifact of a run in the same project',
    })
  if (!row.is_present)
    throw new Refusal('invalid', `The artifact ${artifact_id} is missing or deleted`, {
      code: 'model.source',
    })
  return { run_id: row.run_id }
}

/** An alias must not name a version whose artifact is no longer in the store. */
export async function refuseFailed(
  tx: Transaction,
  model: string,
  version: number | null,
): Promise<void> {
  if (version === null) return
  const { rowCount } = await tx.query(
    `select from write.model_version v join write.artifact a using (artifact_id)
      where v.model = $1 and v.version = $2 and not a.is_missing and a.deleted_at is null`,
    [model, version],
  )
  if (rowCount === 0)
    throw new Refusal('conflict', `The artifact of version ${version} of ${model} is missing`, {
      code: 'model.version_failed',
    })
}
