import { sql } from 'kysely'
import { sha256Hex } from '../../platform/digest.ts'
import { filesInFolder, type PlacedFile } from '../../platform/files/stored-folder.ts'
import { Refusal } from '../../platform/refusal.ts'
import { folderInName, presentStatuses, storedName } from '../../schemas/artifacts/artifacts.ts'
import { isInStore } from '../../schemas/artifacts/in-store.ts'
import { commitOf, parseRevision, type Revision } from '../../schemas/hub-facade.ts'
import type { HubReads, Reader } from './reader.ts'
import { inOrder, noRevision, type Repo, type RepoFile, type Tag } from './repo.ts'

type Named = { model: string; owner: string | null; revision?: string }

/**
 * A model as a repository, by its name, with or without its owner: each version has the file of its artifact, or the files in it if a
 * client of the Hub sent them.
 */
export async function modelRepo(
  hub: HubReads,
  reader: Reader,
  { model, owner, revision = 'main' }: Named,
): Promise<Repo> {
  const row = await ownedModel(hub, reader, { model, owner })
  const version = await versionOfModel(hub, reader, { model, revision })
  return {
    type: 'model',
    ...{
      id: owner === null ? model : `${owner}/${model}`,
      author: row.owner,
      license: version.license,
    },
    ...{ isPrivate: true, mayUse: true },
    ...{ created_at: row.created_at, changed_at: version.created_at ?? row.created_at },
    ...{ commit: commitOf(version), files: inOrder(version.files) },
  }
}

async function ownedModel(hub: HubReads, reader: Reader, { model, owner }: Named) {
  const { row } = await hub.findModel(reader, model)
  if (owner === null || row.owner === owner) return row
  throw new Refusal('not_found', `No such model: ${owner}/${model}`)
}

type ModelVersion = {
  version: number
  digest: string
  license: string | null
  created_at: Date | null
  files: RepoFile[]
}
/** What `main` is before the first version. */
const nothingYet: ModelVersion = {
  ...{ version: 0, digest: '', license: null, created_at: null },
  files: [],
}

async function versionOfModel(
  hub: HubReads,
  reader: Reader,
  { model, revision }: { model: string; revision: string },
): Promise<ModelVersion> {
  const wanted = parseRevision(revision)
  const [row] = await readVersions(hub, reader, { model, wanted, limit: 1 })
  if (row) {
    const found = await filled(hub, toVersion(row))
    if (wanted.is !== 'commit' || commitOf(found) === wanted.commit) return found
  }
  const isEmpty = wanted.is === 'main' || (wanted.is === 'commit' && wanted.version === 0)
  if (isEmpty && (await readVersions(hub, reader, { model, wanted: null, limit: 1 })).length === 0)
    return nothingYet
  throw noRevision(
    wanted.is === 'main'
      ? `The model ${model} has no ready version`
      : `The model ${model} has no revision ${revision}`,
  )
}

export async function tagsOfModel(
  hub: HubReads,
  reader: Reader,
  { model, owner }: Named,
): Promise<Tag[]> {
  await ownedModel(hub, reader, { model, owner })
  const rows = await readVersions(hub, reader, { model, wanted: null, limit: maxVersions })
  return rows.flatMap(row => {
    const commit = commitOf(toVersion(row))
    return [`v${row.version}`, ...row.aliases].map(name => ({ name, commit }))
  })
}

/** As many as a model has at most. */
const maxVersions = 2000

type Wanted = { model: string; wanted: Revision | null; limit: number }
type Row = Omit<ModelVersion, 'digest' | 'files'> & {
  artifact_id: string
  status: string | null
  path: string | null
  sha256: string | null
  size_bytes: number | null
  aliases: string[]
}

/** Newest first; for `main` only ready ones. */
async function readVersions({ reads }: HubReads, reader: Reader, { model, wanted, limit }: Wanted) {
  const version = wanted?.is === 'version' || wanted?.is === 'commit' ? wanted.version : null
  const alias = wanted?.is === 'alias' ? wanted.alias : null
  const { rows } = await sql<Row>`
    select v.version, v.license, v.created_at, v.artifact_id, a.status, a.path, a.sha256, a.size_bytes,
           array(select alias from model_aliases l
                  where l.model = v.model and l.version = v.version order by alias) as aliases
      from model_versions v left join artifacts a using (artifact_id)
     where v.model = ${model}
       and (${version}::int is null or v.version = ${version})
       and (${alias}::text is null or v.version = (select version from model_aliases l
                                                    where l.model = v.model and l.alias = ${alias}))
       and (${wanted?.is !== 'main'} or (not v.archived and a.status = 'verified'))
     order by v.version desc limit ${limit}`.execute(reads.as(reader))
  return rows
}

function toVersion({ version, license, created_at, artifact_id, ...artifact }: Row): ModelVersion {
  const { status, path, sha256, size_bytes } = artifact
  const isHere = presentStatuses.some(one => one === status)
  const isStored = isHere && path !== null && isInStore(path)
  const files =
    isStored && sha256 !== null && size_bytes !== null
      ? [{ path: storedName(path) ?? artifact_id, sha256, size: size_bytes, ...whole }]
      : []
  return { version, license, created_at, files, digest: sha256 ?? sha256Hex(artifact_id) }
}

const whole = { text: null, within: null }

/** Lists of archives that were read last; an archive never changes. */
const listed = new Map<string, Promise<PlacedFile[] | null>>()
const maxListed = 200

/** The version with the files in its archive, if they can be read one by one. */
async function filled({ store }: HubReads, version: ModelVersion): Promise<ModelVersion> {
  const [file] = version.files
  if (!file || folderInName(file.path) === null) return version
  const { sha256, size } = file
  const reading =
    listed.get(sha256) ?? filesInFolder({ size, read: range => store.read(sha256, range) })
  listed.delete(sha256)
  listed.set(sha256, reading)
  for (const oldest of [...listed.keys()].slice(0, -maxListed)) listed.delete(oldest)
  const files = await reading.catch(error => {
    listed.delete(sha256)
    throw error
  })
  if (files === null) return version
  const within = { sha256, size }
  return {
    ...version,
    files: files.map(({ offset, ...one }) => ({
      ...{ ...one, text: null, within: { ...within, offset } },
    })),
  }
}
