import type { Pool } from 'pg'
import { Refusal } from '../../platform/refusal.ts'
import type { Transaction } from '../commit/event-store.ts'
import { type Action, type Asking, judge, type ProjectFacts, rolesIn } from './access.ts'
import { projectFacts } from './short-id.ts'

export type ResolvedModel = {
  model: string
  version: number
  artifact_id: string
  run_id: string
}

type Row = ResolvedModel & { owner: string; known: ProjectFacts; is_archived: boolean }

/**
 * The version that `name@alias` or `name@3` names now. Callers that store the result are not affected when the alias moves later.
 */
export async function resolveModel(
  db: Pool | Transaction,
  reference: string,
  caller: Asking,
): Promise<ResolvedModel> {
  const [, name, wanted] = /^([^@]+)@([^@]+)$/.exec(reference) ?? []
  if (name === undefined || wanted === undefined)
    throw bad(`${reference} does not name a version of a model; write name@alias or name@3`)
  const version = /^[1-9]\d{0,6}$/.test(wanted) ? Number(wanted) : null
  const { rows } = await db.query<Row>({
    name: 'resolve_model',
    text: `select m.name as model, v.version, v.artifact_id, v.run_id, v.is_archived, m.owner,
                  ${projectFacts('$4')} as known
             from write.model m join write.project p on p.name = m.project
             join write.model_version v on v.model = m.name
            where m.name = $1 and m.deleted_at is null
              and v.version = coalesce($2::int, (select version from write.model_alias
                                                  where model = m.name and alias = $3))`,
    values: [name, version, wanted, caller.username],
  })
  const [row] = rows
  if (!row || judge(rolesIn(row.known, caller, row), 'read') !== 'permitted')
    throw bad(`No such model version: ${reference}`)
  if (row.is_archived) throw bad(`Version ${row.version} of the model ${name} is archived`)
  const { model, artifact_id, run_id } = row
  return { model, version: row.version, artifact_id, run_id }
}

export type FoundModel = { project: string; owner: string; may: (action: Action) => boolean }

/** A model with the caller's permissions; null if the caller may not see it. */
export async function findModel(
  db: Pool | Transaction,
  name: string,
  caller: Asking,
): Promise<FoundModel | null> {
  const { rows } = await db.query<{ project: string; owner: string; known: ProjectFacts }>({
    name: 'find_model',
    text: `select m.project, m.owner, ${projectFacts('$2')} as known
             from write.model m join write.project p on p.name = m.project
            where m.name = $1 and m.deleted_at is null`,
    values: [name, caller.username],
  })
  const [row] = rows
  if (!row) return null
  const roles = rolesIn(row.known, caller, row)
  const may = (action: Action) => judge(roles, action) === 'permitted'
  return may('read') ? { project: row.project, owner: row.owner, may } : null
}

const bad = (detail: string): Refusal => new Refusal('invalid', detail, { code: 'model.reference' })
