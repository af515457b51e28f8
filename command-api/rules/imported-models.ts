import type { Pool } from 'pg'
import type { JobAdmitted } from '../../events/jobs.ts'
import { digestOf } from '../../platform/digest.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { HubFile } from '../../schemas/hub-imports.ts'
import { hubReference, pinnedModel } from '../../schemas/hub-reference.ts'
import type { Transaction } from '../commit/event-store.ts'
import { importIdOf } from './model-hub.ts'

type Names = Pick<JobAdmitted, 'owner' | 'spec'>

/** How a job uses an import. */
export const usesOfModels = ['model', 'adapter'] as const
type Use = (typeof usesOfModels)[number]

/** The import that a job uses as its model or its adapter, if its spec names one of the hub. */
export function importOf({ owner, spec }: Names, use: Use) {
  const { ref, adapter } = spec.spec.model ?? {}
  const model = pinnedModel((use === 'model' ? ref : adapter) ?? undefined)
  return model && { ...model, owner, import_id: importIdOf(owner, model) }
}

export const importsOf = (job: Names) => usesOfModels.flatMap(use => importOf(job, use) ?? [])

/** Notes that these jobs need their models, in their transaction: they wait for imports that only begin after it. */
export async function awaitImports(tx: Transaction, jobs: readonly Names[]): Promise<void> {
  for (const one of jobs.flatMap(importsOf))
    await tx.query({
      name: 'await_import',
      text: `insert into write.hub_import as i (import_id, owner, repo, commit, state) values ($1, $2, $3, $4, 'awaited')
             on conflict (import_id) do update set state = case i.state when 'failed' then 'awaited' else i.state end`,
      values: [one.import_id, one.owner, one.repo, one.commit],
    })
}

/** The runs whose models are still on their way. */
export async function runsAwaitingImports(pool: Pool): Promise<Set<string>> {
  const { rows } = await pool.query<{ run_id: string }>({
    name: 'runs_awaiting_imports',
    text: `select u.user_id as run_id from write.hub_import i
             join write.use u on u.used_kind = 'hub_import' and u.used_id = i.import_id
            where i.state in ('awaited', 'resolving', 'downloading') and u.user_kind = 'run' and u.until is null`,
  })
  return new Set(rows.map(({ run_id }) => run_id))
}

export type ModelOfRun = { ref: string; digest: string; files: HubFile[] }

/** The imported model or adapter of a job that is about to start; null if it names none of the hub. */
export async function modelToRun(
  tx: Transaction,
  job: Names,
  use: Use,
): Promise<ModelOfRun | null> {
  const model = importOf(job, use)
  if (!model) return null
  const { rows } = await tx.query<{ state: string; error: string | null; files: HubFile[] }>({
    name: 'model_to_run',
    text: `select state, error, (select coalesce(json_agg(json_build_object('name', f.name, 'sha256', f.sha256, 'size_bytes', f.size_bytes)
                                                  order by f.name), '[]') from write.hub_file f where f.import_id = i.import_id) as files
             from write.hub_import i where import_id = $1`,
    values: [model.import_id],
  })
  const [row] = rows
  const ref = hubReference(model)
  if (row?.state === 'failed')
    throw new Refusal('conflict', `The model ${ref} could not be imported: ${row.error}`)
  if (row?.state !== 'ready')
    throw new Refusal('unavailable', `The model ${ref} is still being imported`)
  return { ref, digest: digestOf(row.files.map(filed)), files: row.files }
}

export const filed = ({ name, sha256 }: Pick<HubFile, 'name' | 'sha256'>) => [name, sha256]

/** Whether an imported model has this content; called under the lock of the content. */
export async function isOfModel(tx: Transaction, sha256: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'content_of_model',
    text: 'select from write.hub_file where sha256 = $1 and is_here limit 1',
    values: [sha256],
  })
  return rowCount === 1
}

/** The ids among these that belong to files of unfinished imports. */
export async function partsOfImports(pool: Pool, ids: readonly string[]): Promise<Set<string>> {
  const importOfPart = (id: string) => id.replace(/_f\d+$/, '')
  const { rows } = await pool.query<{ import_id: string }>(
    `select import_id from write.hub_import where import_id = any($1) and state in ('awaited', 'resolving', 'downloading')`,
    [ids.map(importOfPart)],
  )
  const known = new Set(rows.map(({ import_id }) => import_id))
  return new Set(ids.filter(id => known.has(importOfPart(id))))
}
