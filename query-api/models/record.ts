import { type Selectable, sql } from 'kysely'
import type { ModelTables } from '../../projector/models/table.ts'
import type { Model, ModelVersion } from '../../schemas/models.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { Db } from './find.ts'

type Row = Selectable<ModelTables['models']>

/** Rows of models with their aliases. */
export async function toModels(db: Db, rows: readonly Row[]): Promise<Model[]> {
  if (rows.length === 0) return []
  const names = rows.map(row => row.model)
  const aliases = await db
    .selectFrom('model_aliases')
    .selectAll()
    .where('model', 'in', names)
    .orderBy('alias')
    .execute()
  const newest = await db
    .selectFrom('model_versions')
    .select(['model', sql<number>`max(version)`.as('version')])
    .where('model', 'in', names)
    .groupBy('model')
    .execute()
  return rows.map(({ deleted_at: _, ...row }) => ({
    ...row,
    newest_version: newest.find(one => one.model === row.model)?.version ?? null,
    aliases: aliases
      .filter(one => one.model === row.model)
      .map(({ alias, version, moved_at, moved_by }) => ({
        ...{ alias, version, moved_by, moved_at: toTimestamp(moved_at) },
        is_protected: row.protected_aliases.includes(alias),
      })),
    created_at: toTimestamp(row.created_at),
    updated_at: toTimestamp(row.updated_at),
  }))
}

type VersionRow = Selectable<ModelTables['model_versions']> & {
  status: string | null
  metrics: Record<string, number> | null
  size_bytes: number | null
  format: string | null
  aliases: string[]
}

type Wanted = { model: string; version?: number; limit: number; offset: number }

/**
 * Newest first. Fields of an artifact that the caller can no longer read, because its run was deleted, are missing.
 */
export async function readVersions(
  db: Db,
  { model, version, limit, offset }: Wanted,
): Promise<ModelVersion[]> {
  const { rows } = await sql<VersionRow>`
    select v.*, a.status, a.metrics, a.size_bytes, a.format,
           array(select alias from model_aliases l
                  where l.model = v.model and l.version = v.version order by alias) as aliases
      from model_versions v left join artifacts a using (artifact_id)
     where v.model = ${model} and (${version ?? null}::int is null or v.version = ${version ?? null})
     order by v.version desc limit ${limit} offset ${offset}`.execute(db)
  return rows.map(toVersion)
}

const toVersion = ({ artifact_id, run_id, archived, status, ...row }: VersionRow): ModelVersion => {
  const { model, version, aliases, stage_notes, size_bytes, format, license, created_by } = row
  return {
    ...{ model, version, aliases, stage_notes, size_bytes, format, license, created_by },
    state: archived ? 'archived' : stateOfVersion(status),
    source: { artifact_id, run_id },
    metrics: row.metrics ?? {},
    created_at: toTimestamp(row.created_at),
  }
}

const stateOfVersion = (status: string | null) => {
  if (status === 'verified') return 'ready'
  return status === 'registered' ? 'pending' : 'failed'
}
