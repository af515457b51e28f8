import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import { type ArtifactEvent, artifactAt, artifacts } from '../../events/artifacts.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  type ArtifactDeleted,
  artifactDeleted,
  artifactDeletionQuery,
  artifactInPath,
} from '../../schemas/artifacts/artifacts.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { commit } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { runToActOn } from '../rules/run-to-act-on.ts'
import { requestDeletion } from './decide.ts'
import { protectionsOf } from './protection.ts'
import { checkpointLock } from './retention.ts'
import {
  type ArtifactRow,
  deletionOf,
  findArtifact,
  freedBy,
  isStored,
  lockArtifacts,
  markDeleted,
} from './rows.ts'

export const deleteArtifactRoute = (deps: Deps): Route =>
  route({
    method: 'DELETE',
    path: '/api/artifacts/{artifact_id}',
    credential: 'person',
    reach: 'its_people',
    tag: 'artifacts',
    summary: 'Delete an artifact permanently, unless a run needs it',
    params: artifactInPath,
    query: artifactDeletionQuery,
    response: artifactDeleted,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params, query } = request
      const row = await artifactToDelete(deps, params.artifact_id, caller)
      const dry_run = query.dry_run ?? false
      const answer = { ...pick(row), dry_run }
      const { status, freed } = dry_run
        ? await foretell(deps, row, caller)
        : await deleteOne(deps, request, row)
      if (freed === undefined) return { ...answer, ...already, status }
      const bytes = fateOf(row, freed)
      const told = detailOf[bytes](row, dry_run)
      return { ...answer, already: false, status, bytes, freed_bytes: freed ?? 0, detail: told }
    },
  })

const pick = ({ artifact_id, run_id, path }: ArtifactRow) => ({ artifact_id, run_id, path })
const already = {
  already: true,
  bytes: null,
  freed_bytes: 0,
  detail: 'It had already been deleted',
}

/** `freed` is missing if it had already been deleted. */
type Deletion = { status: ArtifactDeleted['status']; freed?: number | null }

async function deleteOne(
  deps: Deps,
  request: HttpAsked & { caller: Person },
  row: ArtifactRow,
): Promise<Deletion> {
  const { artifact_id, run_id } = row
  let freed: number | null = null
  const { events, state } = await commit(deps, request, artifactAt(artifact_id), {
    locks: [checkpointLock(run_id)],
    decide: artifact => requestDeletion(artifact, deletionOf(row, 'asked')),
    async alongside(tx, { now }) {
      await lockArtifacts(tx, [artifact_id])
      await refuseProtected(tx, row, request.caller)
      freed = await freedBy(tx, [artifact_id])
      await markDeleted(tx, artifact_id, now)
    },
  })
  // Its id is taken, and it is about to be registered.
  if (state === null) throw missing(artifact_id)
  return events.length === 0 ? { status: state.status } : { status: state.status, freed }
}

async function foretell(deps: Deps, row: ArtifactRow, caller: Person): Promise<Deletion> {
  const { artifact_id } = row
  const { events } = await deps.store.load<ArtifactEvent>(artifactAt(artifact_id).stream)
  const before = events.reduce(artifacts.evolve, artifacts.initial)
  if (before === null) throw missing(artifact_id)
  const decided = requestDeletion(before, deletionOf(row, 'asked'))
  if (decided.length === 0) return { status: before.status }
  await refuseProtected(deps.pool, row, caller)
  const status = isStored(row) ? 'deleting' : 'deleted'
  return { status, freed: await freedBy(deps.pool, [artifact_id]) }
}

const fateOf = (row: ArtifactRow, freed: number | null) => {
  if (!isStored(row)) return 'left'
  return freed === null ? 'shared' : 'removed'
}

/** The fate of the bytes, in words. */
const detailOf = {
  removed: (_: ArtifactRow, dry_run: boolean) =>
    dry_run
      ? 'Its bytes would be removed from the store'
      : 'Its bytes are being removed from the store',
  shared: (_: ArtifactRow, dry_run: boolean) =>
    `Its bytes ${dry_run ? 'would stay' : 'stay'} in the store: another artifact or upload shares them`,
  left: ({ path }: ArtifactRow, dry_run: boolean) =>
    `Only the record ${dry_run ? 'would be' : 'is'} marked: its bytes lie at ${path}, where Forge deletes nothing`,
}

const missing = (artifact_id: string) =>
  new Refusal('not_found', `No such artifact: ${artifact_id}`)

/** Permission to delete a run includes its artifacts. */
async function artifactToDelete(
  { pool }: Deps,
  artifact_id: string,
  caller: Person,
): Promise<ArtifactRow> {
  const row = await findArtifact(pool, artifact_id)
  if (!row) throw missing(artifact_id)
  try {
    await runToActOn(pool, { asked: row.run_id, caller, action: 'control', noun: 'run' })
  } catch (error) {
    throw error instanceof Refusal && error.code === 'not_found' ? missing(artifact_id) : error
  }
  return row
}

const needs = {
  init_from: (run: string) => `${run} started from it`,
  resume: (run: string) => `${run} would continue from it`,
  deployment: (name: string) => `the deployment ${name} serves it`,
  model: (version: string) => `it is ${version} of the model registry`,
}

async function refuseProtected(
  db: Deps['pool'] | Transaction,
  { artifact_id }: ArtifactRow,
  caller: Person,
): Promise<void> {
  const protection = (await protectionsOf(db, [artifact_id], caller)).get(artifact_id)
  if (!protection) return
  const { references, references_total } = protection
  const who = references.map(({ kind, short_id }) => needs[kind](short_id))
  const hidden = references_total - references.length
  if (hidden > 0) who.push(`${hidden} more ${hidden === 1 ? 'thing needs' : 'things need'} it`)
  throw new Refusal('conflict', `The artifact ${artifact_id} is in use: ${who.join(', ')}`, {
    code: 'artifact.referenced',
    data: { ...protection },
    hint: 'Delete those runs or models first; an attempt needs its checkpoint until its job has ended',
  })
}
