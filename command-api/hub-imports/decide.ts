import type { HubImport, HubImportEvent, HubImportIdentity } from '../../events/hub-imports.ts'
import { Refusal } from '../../platform/refusal.ts'

type Data<T extends HubImportEvent['type']> = Extract<HubImportEvent, { type: T }>['data']

/** Idempotent: an import that is under way or ready stays; one that failed begins again and keeps the files that have arrived. */
export const requestImport = (
  before: HubImport,
  data: Data<'hub.import_requested'>,
): HubImportEvent[] =>
  before === null || before.state === 'failed' ? [{ type: 'hub.import_requested', data }] : []

export const listImport = (before: HubImport, data: Data<'hub.import_listed'>): HubImportEvent[] =>
  before?.state === 'resolving' ? [{ type: 'hub.import_listed', data }] : []

export const progressImport = (
  before: HubImport,
  data: Data<'hub.import_progressed'>,
): HubImportEvent[] =>
  before?.state === 'downloading' ? [{ type: 'hub.import_progressed', data }] : []

export const finishImport = (
  before: HubImport,
  data: Data<'hub.import_ready'>,
): HubImportEvent[] => (before?.state === 'downloading' ? [{ type: 'hub.import_ready', data }] : [])

export const failImport = (before: HubImport, data: Data<'hub.import_failed'>): HubImportEvent[] =>
  before?.state === 'resolving' || before?.state === 'downloading'
    ? [{ type: 'hub.import_failed', data }]
    : []

export function deleteImport(before: HubImport, data: HubImportIdentity): HubImportEvent[] {
  if (!before) throw new Refusal('not_found', `No such import: ${data.import_id}`)
  return [{ type: 'hub.import_deleted', data }]
}
