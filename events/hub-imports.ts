import { type Static, Type } from 'typebox'
import { type HubImportState, hubFile } from '../schemas/hub-imports.ts'
import { nullable } from '../schemas/shared.ts'
import { aggregate, type EventOf, event } from './event.ts'

/** `owner`: who imports it, with their own access to the hub. */
const identity = {
  import_id: Type.String(),
  owner: Type.String(),
  repo: Type.String(),
  commit: Type.String(),
}

/** The import of a model began, for the first time or again. `revision`: the branch, tag or commit of the request. */
export const hubImportRequested = event(
  'hub.import_requested',
  Type.Object({ ...identity, revision: Type.String() }),
  ({ repo, revision, commit }, who) =>
    `${who} began to import the model ${repo} at ${revision} (${commit}) from the hub`,
)

/** The hub has listed the files and the license of a model. */
export const hubImportListed = event(
  'hub.import_listed',
  Type.Object({
    ...identity,
    license: nullable(Type.String()),
    gated: Type.Boolean(),
    file_count: Type.Integer({ minimum: 1 }),
    bytes: Type.Integer({ minimum: 0 }),
  }),
  ({ repo, commit, file_count, bytes, license }, who) =>
    `${who} found ${file_count} ${file_count === 1 ? 'file' : 'files'} of the model ${repo}@${commit}: ${bytes} bytes, ${license === null ? 'no license stated' : `license ${license}`}`,
)

/** A part of the files has arrived. */
export const hubImportProgressed = event(
  'hub.import_progressed',
  Type.Object({ ...identity, bytes_done: Type.Integer({ minimum: 0 }) }),
  ({ repo, commit, bytes_done }, who) =>
    `${who} received ${bytes_done} bytes of the model ${repo}@${commit}`,
)

/** All files of a model are in the store, checked by the digests that the hub gave. */
export const hubImportReady = event(
  'hub.import_ready',
  Type.Object({ ...identity, digest: Type.String(), files: Type.Array(hubFile) }),
  ({ repo, commit, files }, who) =>
    `${who} imported the model ${repo}@${commit}: ${files.length} ${files.length === 1 ? 'file' : 'files'}`,
)

/** An import ended without the model; it can be requested again, and then continues. */
export const hubImportFailed = event(
  'hub.import_failed',
  Type.Object({ ...identity, reason: Type.String() }),
  ({ repo, commit, reason }, who) =>
    `${who} could not import the model ${repo}@${commit}: ${reason}`,
)

/** An import was cancelled, or the imported model deleted. */
export const hubImportDeleted = event(
  'hub.import_deleted',
  Type.Object(identity),
  ({ repo, commit }, who) => `${who} deleted the import of the model ${repo}@${commit}`,
)

const events = [
  hubImportRequested,
  hubImportListed,
  hubImportProgressed,
  hubImportReady,
  hubImportFailed,
  hubImportDeleted,
] as const
export type HubImportEvent = EventOf<(typeof events)[number]>

export type HubImportIdentity = Static<typeof hubImportDeleted.data>

/** Null before it is requested, and after it is deleted. */
export type HubImport = (HubImportIdentity & { state: HubImportState }) | null

function evolve(before: HubImport, event: HubImportEvent): HubImport {
  if (event.type === 'hub.import_requested') {
    const { import_id, owner, repo, commit } = event.data
    return { import_id, owner, repo, commit, state: 'resolving' }
  }
  return before && evolveExisting(before, event.type)
}

function evolveExisting(
  before: NonNullable<HubImport>,
  type: Exclude<HubImportEvent['type'], 'hub.import_requested'>,
): HubImport {
  switch (type) {
    case 'hub.import_listed':
      return { ...before, state: 'downloading' }
    case 'hub.import_progressed':
      return before
    case 'hub.import_ready':
      return { ...before, state: 'ready' }
    case 'hub.import_failed':
      return { ...before, state: 'failed' }
    case 'hub.import_deleted':
      return null
  }
}

export const hubImports = aggregate('hub_import', {
  events,
  initial: null,
  evolve,
  snapshot: { shape: 1 },
})

export const hubImportAt = ({ import_id }: { import_id: string }) => hubImports.at(import_id)
