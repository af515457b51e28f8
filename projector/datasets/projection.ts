import type { ExpressionBuilder, Kysely, Updateable } from 'kysely'
import type { DatasetEvent } from '../../events/datasets.ts'
import { datasetReference } from '../../schemas/datasets/reference.ts'
import type { Handlers } from '../projection.ts'
import type { DatasetTables } from './table.ts'

type Tx = Kysely<DatasetTables>
type Name = { owner: string; name: string }

export const datasetProjection: Handlers<DatasetTables, DatasetEvent> = {
  'dataset.created': (tx, { data: { use, ...data }, occurred_at }) =>
    tx
      .insertInto('datasets')
      .values({ ...data, use_by: use, created_at: occurred_at, updated_at: occurred_at })
      .execute(),
  'dataset.changed': (tx, { data: { use, ...data }, occurred_at }) =>
    update(tx, data, { ...data, use_by: use, updated_at: occurred_at }),
  async 'dataset.granted'(tx, { data: { see, use, ...named }, occurred_at, actor }) {
    const { owner, name, username } = named
    if (!see && !use) {
      await tx
        .deleteFrom('dataset_grants')
        .where(eb => eb.and({ owner, name, username }))
        .execute()
      return
    }
    const given = { may_see: see, may_use: use, granted_by: actor.id, granted_at: occurred_at }
    await tx
      .insertInto('dataset_grants')
      .values({ ...named, ...given })
      .onConflict(on => on.columns(['owner', 'name', 'username']).doUpdateSet(given))
      .execute()
  },
  async 'dataset.version_created'(tx, { data, occurred_at, actor }) {
    const { owner, name, version, digest, kind, files, parents, source } = data
    await tx
      .insertInto('dataset_versions')
      .values({
        ...{ owner, name, version, digest, kind, parents, ref: datasetReference(data) },
        ...{ state: 'validating', format: null, rows: null, error_count: null, report: null },
        bytes: files.reduce((sum, { size_bytes }) => sum + size_bytes, 0),
        ...{ tokens: '{}', splits: '{}', schema: '{}', deprecated_reason: null },
        files: JSON.stringify(
          files.map(({ name: file, sha256, size_bytes }) => ({ name: file, sha256, size_bytes })),
        ),
        source: JSON.stringify(source),
        ...{ created_by: actor.id, created_at: occurred_at, validated_at: null },
      })
      .execute()
    await update(tx, data, { updated_at: occurred_at })
  },
  'dataset.validated': (tx, { data, occurred_at }) => {
    const { format, kind, rows, error_count, tokens, splits, schema, ...report } = data.report
    const { lengths, duplicates, overlap, estimated, errors, files } = report
    return updateVersion(tx, data, {
      state: data.state,
      ...{ format, rows, error_count, validated_at: occurred_at },
      ...(kind !== null && { kind }),
      tokens: JSON.stringify(tokens),
      splits: JSON.stringify(splits),
      schema: JSON.stringify(schema),
      report: JSON.stringify({ lengths, duplicates, overlap, estimated, errors, files }),
    })
  },
  'dataset.deprecated': (tx, { data }) =>
    updateVersion(tx, data, { state: 'deprecated', deprecated_reason: data.reason }),
  async 'dataset.version_deleted'(tx, { data, occurred_at }) {
    await tx.deleteFrom('dataset_versions').where(isVersion(data)).execute()
    await update(tx, data, { updated_at: occurred_at })
  },
}

const update = (tx: Tx, { owner, name }: Name, to: Updateable<DatasetTables['datasets']>) =>
  tx.updateTable('datasets').set(to).where('owner', '=', owner).where('name', '=', name).execute()

type Version = Name & { version: number }

const isVersion =
  ({ owner, name, version }: Version) =>
  (eb: ExpressionBuilder<DatasetTables, 'dataset_versions'>) =>
    eb.and({ owner, name, version })

const updateVersion = (tx: Tx, named: Version, to: Updateable<DatasetTables['dataset_versions']>) =>
  tx.updateTable('dataset_versions').set(to).where(isVersion(named)).execute()
