import { datasetAt } from '../../events/datasets.ts'
import { digestOf } from '../../platform/digest.ts'
import type { Work } from '../commit/commit.ts'
import { pushVersion } from './decide.ts'
import { refuseOthers } from './others.ts'
import { saveDataset } from './rows.ts'
import { uploadedFiles } from './uploaded.ts'
import { type Asking, holdParents, toReply } from './version-routes.ts'

export type MadeVersion = {
  /** `owner/name`. */
  dataset: string
  /** Registered by the caller. */
  files: { upload_id: string; name: string }[]
  /** Null: to be recognised. */
  kind: 'preference' | 'chat' | 'prompt' | 'text' | null
  parents: string[]
  source: 'annotation' | 'reflow' | 'volume'
  caller: Asking
}

const namedBy = (dataset: string) => {
  const [owner = '', name = ''] = dataset.split('/')
  return { owner, name }
}

/** The streams to lock before `pushMadeVersion`. */
export const locksOfDataset = (dataset: string): string[] => [datasetAt(namedBy(dataset)).stream]

/** Makes files that Forge wrote or found the next version of a dataset, by the rules for pushed ones. */
export async function pushMadeVersion(
  work: Work,
  { dataset, files, kind, parents, source, caller }: MadeVersion,
): Promise<{ ref: string; created: boolean }> {
  const named = namedBy(dataset)
  await refuseOthers(work.tx, named, caller)
  await holdParents(work, { parents }, caller)
  const found = await uploadedFiles(work.tx, { files }, { owner: caller.username, now: work.now })
  const digest = digestOf(found.files.map(({ name, sha256 }) => [name, sha256]))
  const { events, state } = await work.decide(datasetAt(named), {
    decide: existing =>
      pushVersion(existing, {
        ...{ ...named, version: undefined, digest, kind, ...found, parents, settings: {} },
        source: { kind: source },
      }),
    alongside: saveDataset,
  })
  const created = events.some(({ type }) => type === 'dataset.version_created')
  return { ref: toReply(state).ref, created }
}
