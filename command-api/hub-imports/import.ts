import { type HubImportEvent, hubImportAt } from '../../events/hub-imports.ts'
import { digestOf } from '../../platform/digest.ts'
import { Unreachable } from '../../platform/http/outgoing.ts'
import { Refusal } from '../../platform/refusal.ts'
import { hubReference } from '../../schemas/hub-reference.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { again } from '../effects/further-duties.ts'
import { decided, nothing, type Outcome } from '../effects/outcome.ts'
import { type LeasedDuty, reactor } from '../effects/reactor.ts'
import { whileWanted } from '../effects/while-wanted.ts'
import { NotGiven } from '../rules/hub-answers.ts'
import { filed, importsOf } from '../rules/imported-models.ts'
import { type AtCommit, type Hub, hubTokenOf, inWords, noHub } from '../rules/model-hub.ts'
import { refuseBeyondStorage, storageQuotaOf } from '../rules/storage-quota.ts'
import { failImport, finishImport, listImport, progressImport, requestImport } from './decide.ts'
import { type Receiving, receiveFile } from './receive.ts'
import { type FileRow, filesOf, findImport, type ImportRow, saveFiles, saveImport } from './rows.ts'

export type Needed = Pick<Deps, 'pool' | 'store' | 'artifacts' | 'sealing' | 'hub'>
type Payload = { import_id: string }

/** How long one piece of work receives bytes, in milliseconds, before it reports them. */
const pieceMs = 10_000
const attempts = 8
/** Names and digests of all files have to fit into one event. */
const maxFactBytes = 400 * 1024

/** Jobs whose models nobody has imported for their owner yet begin the import. */
export const importsOfJobs = reactor<object, Needed>({
  name: 'import-models-of-jobs',
  repeat: 'local',
  dutiesOf(event) {
    return event.type === 'job.admitted'
      ? importsOf(event.data).map(model => ({ payload: model }))
      : []
  },
  async perform({ payload }) {
    const model = payload as ReturnType<typeof importsOf>[number]
    const { commit } = model
    return [
      decided(hubImportAt(model), {
        decide: before => requestImport(before, { ...model, revision: commit }),
        alongside: saveImport,
      }),
    ]
  },
})

/**
 * Imports models piece by piece, each recorded with the next in one transaction. A killed process leaves the bytes that arrived,
 * and another one continues after them within a minute.
 */
export const modelImporter = reactor<Payload, Needed>({
  name: 'import-models',
  repeat: 'ask first',
  dutiesOf: ({ type, data }) =>
    type === 'hub.import_requested' ? [{ payload: { import_id: data.import_id } }] : [],
  deadlineMs: 3_600_000,
  renewMs: 20_000,
  attempts,
  atOnce: 2,
  async perform(duty, deps, signal): Promise<Outcome> {
    const found = await findImport(deps.pool, duty.payload.import_id)
    if (found?.state !== 'resolving' && found?.state !== 'downloading') return nothing
    try {
      if (deps.hub === null) throw noHub()
      const { owner, repo, commit } = found
      const token = await hubTokenOf(deps.pool, deps.sealing, owner)
      const model = { repo, commit, token }
      return found.state === 'resolving'
        ? await listed(deps, deps.hub, { found, model, duty })
        : await received({ deps, hub: deps.hub, duty, found, model, signal })
    } catch (error) {
      signal.throwIfAborted()
      return failed(found, duty, error)
    }
  },
  async givenUp({ payload }, { pool }) {
    const found = await findImport(pool, payload.import_id)
    const isOpen = found?.state === 'resolving' || found?.state === 'downloading'
    return found && isOpen ? [failedFor(found, onThisServer)] : nothing
  },
})

const onThisServer = 'The import failed on this server; its log says why'

const identityOf = ({ import_id, owner, repo, commit }: ImportRow) => ({
  ...{ import_id, owner, repo, commit },
})

type Listing = { found: ImportRow; model: AtCommit; duty: LeasedDuty<Payload> }

async function listed(deps: Needed, hub: Hub, { found, model, duty }: Listing): Promise<Outcome> {
  const { license, gated, isOpen } = await hub.pin({ ...model, revision: model.commit })
  const files = await hub.list(model)
  const facts = files.map(({ name }) => ({ name, sha256: 'x'.repeat(64), size_bytes: 1e15 }))
  if (Buffer.byteLength(JSON.stringify(facts)) > maxFactBytes)
    throw new NotGiven('', 'The names of its files are too long together')
  const bytes = files.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  const identity = identityOf(found)
  const quota = await storageQuotaOf(deps.pool, found.owner)
  await deps.store.transaction(tx => refuseBeyondStorage(tx, quota, { bytes, instead: {} }))
  return [
    decided(hubImportAt(found), {
      decide: before =>
        listImport(before, { ...identity, license, gated, file_count: files.length, bytes }),
      async alongside(tx: Transaction, decided: { events: readonly HubImportEvent[] }) {
        await saveImport(tx, decided)
        await saveFiles(tx, found.import_id, { files, isOpen })
      },
    }),
    again(duty.duty_id, 0),
  ]
}

type Piece = {
  deps: Needed
  hub: Hub
  duty: LeasedDuty<Payload>
  found: ImportRow
  model: AtCommit
  signal: AbortSignal
}

async function received({ deps, hub, duty, found, model, signal }: Piece): Promise<Outcome> {
  const { import_id } = found
  const pause = AbortSignal.timeout(pieceMs)
  const isWanted = async () => (await findImport(deps.pool, import_id))?.state === 'downloading'
  const outcome = await whileWanted({ signal, isWanted }, async (stop): Promise<Outcome> => {
    const isWhole = await receiveFiles({ deps, hub, import_id, model, pause, stop })
    const files = await filesOf(deps.pool, import_id)
    if (isWhole) return [finished(found, files)]
    const bytes_done = await arrivedOf(deps, import_id, files)
    return [
      decided(hubImportAt(found), {
        decide: before => progressImport(before, { ...identityOf(found), bytes_done }),
      }),
      again(duty.duty_id, pause.aborted ? 0 : 1000),
    ]
  })
  return outcome ?? nothing
}

/** False: interrupted, after some bytes. */
async function receiveFiles(on: Omit<Receiving, 'deps'> & { deps: Needed }): Promise<boolean> {
  for (const file of await filesOf(on.deps.pool, on.import_id)) {
    if (file.is_here) continue
    if (on.pause.aborted) return false
    if (!(await receiveFile(on, file))) return false
  }
  return true
}

function finished(found: ImportRow, rows: readonly FileRow[]) {
  const files = rows.map(({ name, sha256, size_bytes }) => ({
    ...{ name, sha256: sha256 ?? '', size_bytes },
  }))
  const digest = digestOf(files.map(filed))
  return decided(hubImportAt(found), {
    decide: before => finishImport(before, { ...identityOf(found), digest, files }),
    alongside: saveImport,
  })
}

async function arrivedOf(
  { artifacts }: Needed,
  import_id: string,
  files: readonly FileRow[],
): Promise<number> {
  let bytes = 0
  for (const { is_here, nth, size_bytes } of files)
    bytes += is_here ? size_bytes : await artifacts.received(`${import_id}_f${nth}`)
  return bytes
}

/** A refusal ends the import at once, a hub that is away after some attempts; anything else is tried again by the duty itself. */
function failed(found: ImportRow, { attempt }: LeasedDuty<Payload>, error: unknown): Outcome {
  const ref = hubReference(found)
  const reason =
    error instanceof NotGiven
      ? inWords(error, ref)
      : error instanceof Refusal && error.code !== 'unavailable'
        ? error.detail
        : null
  if (reason === null && attempt < attempts) throw error
  const cause = error instanceof Error ? error.message : String(error)
  const last = error instanceof Unreachable ? `The model hub is not usable: ${cause}` : onThisServer
  return [failedFor(found, reason ?? last)]
}

const failedFor = (found: ImportRow, reason: string) =>
  decided(hubImportAt(found), {
    decide: before => failImport(before, { ...identityOf(found), reason: reason.slice(0, 1000) }),
    alongside: saveImport,
  })
