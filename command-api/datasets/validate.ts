import { text } from 'node:stream/consumers'
import { TooMuchMemory, validateInThread } from '../../datasets/in-thread.ts'
import type { DatasetFile, ValidationOptions } from '../../datasets/report.ts'
import { splitOf } from '../../datasets/splits.ts'
import { type DatasetEvent, datasetAt, datasets } from '../../events/datasets.ts'
import type { Actor } from '../../events/event.ts'
import type { DatasetFileFacts } from '../../schemas/datasets/datasets.ts'
import type { DatasetReport } from '../../schemas/datasets/report.ts'
import type { Deps } from '../deps.ts'
import { type Change, decided, nothing, type Outcome } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'
import { validateVersion } from './decide.ts'
import { failedReport, fitReport } from './fit-report.ts'
import { saveDataset } from './rows.ts'

type Needed = Pick<Deps, 'store' | 'artifacts'>
type Payload = { owner: string; name: string; version: number }

/** How long the validation of one version may take, in milliseconds, with some time left before the deadline of the duty. */
const validationMs = 3_500_000

/** Validates new versions, in a thread. A killed process leaves nothing behind, and another one begins again after a minute. */
export const datasetValidator = reactor<Payload, Needed>({
  name: 'validate-datasets',
  repeat: 'local',
  dutiesOf: ({ type, data }) =>
    type === 'dataset.version_created'
      ? [{ payload: { owner: data.owner, name: data.name, version: data.version } }]
      : [],
  deadlineMs: 3_600_000,
  renewMs: 20_000,
  atOnce: 2,
  async perform({ payload }, deps, signal): Promise<Outcome> {
    const made = await waitingFor(deps, payload)
    if (!made) return nothing
    return [resultOf(made, await validated(deps, made.data, signal))]
  },
  async givenUp({ payload }, deps) {
    const made = await waitingFor(deps, payload)
    if (!made) return nothing
    const first = made.data.files[0]?.name ?? ''
    return [
      resultOf(made, failedReport(first, 'The validation failed; the log of the server has why')),
    ]
  },
})

type Created = Extract<DatasetEvent, { type: 'dataset.version_created' }> & { actor: Actor }
type Made = Created['data']

/** The event of the version, while that waits for its validation. */
async function waitingFor({ store }: Needed, payload: Payload): Promise<Created | null> {
  const { events } = await store.load<DatasetEvent>(datasetAt(payload).stream)
  const state = events.reduce(datasets.evolve, datasets.initial)
  const version = state?.versions.find(one => one.version === payload.version)
  if (version?.state !== 'validating' || version.is_deleted) return null
  const made = events.find(
    event => event.type === 'dataset.version_created' && event.data.version === payload.version,
  )
  return made?.type === 'dataset.version_created' ? made : null
}

function resultOf({ data, actor }: Created, report: DatasetReport): Change {
  const { owner, name, version } = data
  const result = {
    ...{ owner, name, version, created_by: actor.id, report },
    state: report.error_count === 0 ? ('ready' as const) : ('invalid' as const),
  }
  return decided(datasetAt(data), {
    decide: dataset => validateVersion(dataset, result),
    alongside: saveDataset,
  })
}

/** A version that can never be validated is invalid; anything that may pass is thrown and tried again. */
async function validated(
  { artifacts }: Needed,
  { files, kind, tokenizer }: Made,
  signal: AbortSignal,
): Promise<DatasetReport> {
  const tooLong = AbortSignal.timeout(validationMs)
  try {
    const options: ValidationOptions = {
      kind,
      tokenizer: tokenizer && {
        name: tokenizer.name,
        json: await jsonOf(artifacts, tokenizer),
      },
    }
    const opened = files.map(file => storedFile(artifacts, file))
    const running = { signal: AbortSignal.any([signal, tooLong]), progress: () => {} }
    return fitReport(await validateInThread(opened, options, running))
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Unreadable) return failedReport(error.file, error.message)
    const first = files[0]?.name ?? ''
    if (tooLong.aborted) return failedReport(first, 'The validation took more than 58 minutes')
    if (error instanceof TooMuchMemory) return failedReport(first, error.message)
    throw error
  }
}

/** It will not be readable later either. */
class Unreadable extends Error {
  readonly file: string
  constructor(file: string, message: string) {
    super(message)
    this.file = file
  }
}

function storedFile(
  store: Needed['artifacts'],
  { name, sha256, size_bytes }: DatasetFileFacts,
): DatasetFile {
  return {
    ...{ name, size: size_bytes, split: splitOf(name) },
    async open(range) {
      const bytes = await store.read(sha256, range ?? null)
      if (!bytes) throw new Unreadable(name, "Forge's store has lost this file; upload it again")
      return bytes
    },
  }
}

async function jsonOf(
  store: Needed['artifacts'],
  { name, sha256 }: { name: string; sha256: string },
): Promise<object> {
  const bytes = await store.read(sha256, null)
  if (!bytes) throw new Unreadable(name, "Forge's store has lost the tokenizer; upload it again")
  const content = await text(bytes)
  try {
    const json: unknown = JSON.parse(content)
    if (typeof json === 'object' && json !== null) return json
  } catch {
    // As any other content that is no object.
  }
  throw new Unreadable(name, 'The tokenizer is not a tokenizer.json')
}
