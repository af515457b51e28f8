import type { Pool } from 'pg'
import type { Person, RunCaller } from '../../auth/caller.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { ArtifactInput } from '../../schemas/artifacts/artifacts.ts'
import type { DatasetFileFacts, DatasetPatch } from '../../schemas/datasets/datasets.ts'
import type { LifecycleReport, RunInput } from '../../schemas/runs/runs.ts'
import type { HttpAsked } from '../commit/asked.ts'
import type { ReportingRun } from '../rules/admit-report.ts'
import { roleIfEnabled } from '../rules/enabled-person.ts'
import type { ModelHead } from '../rules/newest-model-version.ts'

type Name = { owner: string; name: string }
/** The person with whose rights is written. */
export type Writer = { username: string; role: 'admin' | 'operator' }
/** A file as clients of the Hub name it. */
export type NamedFile = { owner: string; sha256: string; size_bytes: number }

/** The newest version of a dataset; version 0 has no files. */
export type Head = { version: number; digest: string; files: readonly DatasetFileFacts[] }
export type Revised = {
  kept: readonly DatasetFileFacts[]
  uploads: readonly { name: string; upload_id: string }[]
  settings: DatasetPatch
}

type NewVersion = {
  model: string
  project: string
  artifact_id: string
  /** The number of the version on which it builds. */
  after: number
  stage_notes: string
  license: string | null
}

/** How a commit becomes an artifact of a run. */
export type RunPorts = {
  createRun(request: HttpAsked & { caller: Person; body: RunInput }): Promise<{ run_id: string }>
  reportRun(report: LifecycleReport, run: ReportingRun, asked: HttpAsked): Promise<unknown>
  announce(
    request: HttpAsked,
    file: { filename: string; size_bytes: number; content_type: string; sha256: null },
    run_id: string,
  ): Promise<{ upload_id: string }>
  complete(
    request: HttpAsked,
    of: { run_id: string; upload_id: string },
  ): Promise<{ path: string; size_bytes: number; sha256: string }>
  register(request: HttpAsked, artifact: ArtifactInput): Promise<{ artifact_id: string }>
}

export type ModelPorts = {
  /** The project of the model; throws if this person may not add versions to it. */
  toWrite(named: Name, writer: Writer): Promise<{ project: string }>
  headOf(model: string): Promise<ModelHead>
  open(request: HttpAsked, model: string, of: { project: string; caller: Writer }): Promise<void>
  addVersion(request: HttpAsked, version: NewVersion): Promise<ModelHead>
}

/** The commands of other slices to which the Hub's are translated. */
export type HubPorts = {
  models: ModelPorts
  ofRuns: RunPorts
  announceFile(request: HttpAsked, file: NamedFile): Promise<{ url: string; exists: boolean }>
  /** Null if this person was given no address for it. */
  registerFile(request: HttpAsked, file: NamedFile): Promise<string | null>
  storeFile(of: { asked: HttpAsked; owner: string; content: Buffer }): Promise<string>
  headOf(db: Pool, named: Name): Promise<Head>
  openDataset(
    request: HttpAsked,
    named: Name,
    made: { writer: Writer; settings: DatasetPatch },
  ): Promise<void>
  reviseDataset(
    request: HttpAsked,
    named: Name,
    revising: { writer: Writer; source: 'upload' | 'run'; revise: (head: Head) => Revised },
  ): Promise<Head>
}

export type HubRequest = Omit<HttpAsked, 'caller'> & { caller: Person | RunCaller }

/** The project of the run that calls; null for people. */
export async function projectOf(pool: Pool, caller: HubRequest['caller']): Promise<string | null> {
  if (caller.kind === 'person') return null
  const { rows } = await pool.query<{ project: string }>({
    name: 'project_of_token',
    text: `select project from write.resource where kind = 'run' and id = $1`,
    values: [caller.runId],
  })
  return rows[0]?.project ?? null
}

/** Running code writes with the rights of its owner, but never with those of an administrator. */
export async function writerOf(pool: Pool, caller: HubRequest['caller']): Promise<Writer> {
  if (caller.kind === 'person') return caller
  const { rows } = await pool.query<{ owner: string }>({
    name: 'owner_of_token',
    text: `select owner from write.resource where kind = 'run' and id = $1 and deleted_at is null`,
    values: [caller.runId],
  })
  const username = rows[0]?.owner
  if (username === undefined || (await roleIfEnabled(pool, username)) === null)
    throw new Refusal('forbidden', 'The run was deleted, or its owner may not sign in')
  return { username, role: 'operator' }
}
