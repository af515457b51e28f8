import type { Pool } from 'pg'
import { type DatasetEvent, datasetAt } from '../../events/datasets.ts'
import { digestOf } from '../../platform/digest.ts'
import type { DatasetFileFacts, DatasetPatch } from '../../schemas/datasets/datasets.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { commit, create, type Work } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { refuseUnlessWriter } from '../rules/dataset-access.ts'
import { changeDataset, createDataset, pushVersion } from './decide.ts'
import { refuseOthers } from './others.ts'
import { saveDataset } from './rows.ts'
import { refuseClashes, uploadedFiles } from './uploaded.ts'

type Name = { owner: string; name: string }
type Writer = { username: string; role: 'admin' | 'operator' }
type Made = Extract<DatasetEvent, { type: 'dataset.version_created' }>['data']

/** The newest version, whatever its state; version 0 has no files. */
export type Head = { version: number; digest: string; files: readonly DatasetFileFacts[] }

/** The files of the next version: those kept of the newest, and registered uploads of the writer. */
export type Revised = {
  kept: readonly DatasetFileFacts[]
  uploads: readonly { name: string; upload_id: string }[]
  settings: DatasetPatch
}

export type Revising = {
  writer: Writer
  source: 'upload' | 'run'
  /** Pure; sees the newest version under the lock of the dataset, so that no other can come in between. */
  revise: (head: Head) => Revised
}

/** Makes a version out of the newest one; returns the version that is the newest then. */
export async function reviseDataset(
  deps: Deps,
  request: HttpAsked,
  named: Name,
  { writer, source, revise }: Revising,
): Promise<Head> {
  const target = datasetAt(named)
  return create(deps, request, target, {
    async make(work) {
      await refuseUnlessWriter(work.tx, named, writer)
      const head = await madeNewest(work.tx, named)
      const { kept, uploads, settings } = revise(head ?? nothingYet)
      if (kept.length + uploads.length === 0) {
        await work.decide(target, {
          decide: dataset => changeDataset(dataset, named, settings),
          alongside: saveDataset,
        })
        return nothingYet
      }
      const files = await filesOf(work, { kept, uploads, owner: writer.username })
      const digest = digestOf(files.map(({ name, sha256 }) => [name, sha256]))
      const options = { kind: head?.kind ?? null, tokenizer: head?.tokenizer ?? null }
      const { state } = await work.decide(target, {
        decide: dataset =>
          pushVersion(dataset, {
            ...{ owner: named.owner, name: named.name, version: undefined },
            ...{ digest, files, settings, ...options },
            ...{ parents: [], source: { kind: source } },
          }),
        alongside: saveDataset,
      })
      return { version: state?.versions.at(-1)?.version ?? 0, digest, files }
    },
  })
}

type Files = Pick<Revised, 'kept' | 'uploads'> & { owner: string }

async function filesOf({ tx, now }: Work, { kept, uploads, owner }: Files) {
  refuseClashes({ files: [...kept, ...uploads] })
  const found = await uploadedFiles(tx, { files: [...uploads] }, { owner, now })
  return [...kept, ...found.files].sort((a, b) => (a.name < b.name ? -1 : 1))
}

const nothingYet: Head = { version: 0, digest: '', files: [] }

export const headOf = async (db: Pool | Transaction, named: Name): Promise<Head> =>
  (await madeNewest(db, named)) ?? nothingYet

/** As it was made; its stream is long, because it has the results of all validations. */
async function madeNewest(db: Pool | Transaction, { owner, name }: Name): Promise<Made | null> {
  const { rows } = await db.query<{ data: Made }>({
    name: 'newest_dataset_version',
    text: `select e.data
             from (select version from write.dataset_version
                    where owner = $1 and name = $2 and deleted_at is null order by version desc limit 1) v
             join write.event e on e.stream = $3 and e.type = 'dataset.version_created'
                               and (e.data ->> 'version')::int = v.version`,
    values: [owner, name, datasetAt({ owner, name }).stream],
  })
  return rows[0]?.data ?? null
}

/** Creates a dataset without versions. */
export async function openDataset(
  deps: Deps,
  request: HttpAsked,
  named: Name,
  { writer, settings }: { writer: Writer; settings: DatasetPatch },
): Promise<void> {
  await refuseOthers(deps.pool, named, writer)
  await commit(deps, request, datasetAt(named), {
    decide: dataset => createDataset(dataset, { ...named, settings }),
    alongside: saveDataset,
  })
}
