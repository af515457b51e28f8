import { type DatasetEvent, datasetAt } from '../../events/datasets.ts'
import type { DatasetLabels } from '../../schemas/approvals.ts'
import { parseDatasetReference } from '../../schemas/datasets/reference.ts'
import type { EventStore } from '../commit/event-store.ts'

/** Reads the labels of resolved versions, `owner/name@3`. */
export async function datasetLabels(
  store: EventStore,
  refs: readonly string[],
): Promise<DatasetLabels[]> {
  return Promise.all(refs.map(ref => labelsOf(store, ref)))
}

async function labelsOf(store: EventStore, ref: string): Promise<DatasetLabels> {
  const named = parseDatasetReference(ref)
  if (!named) throw new Error(`a resolved dataset is called ${ref}`)
  const { events } = await store.load<DatasetEvent>(datasetAt(named).stream)
  let labels: DatasetLabels = { ref, source: 'upload', license: null }
  for (const { type, data } of events) {
    if (type === 'dataset.created' || type === 'dataset.changed')
      labels = { ...labels, license: data.license }
    if (type === 'dataset.version_created' && data.version === named.version)
      labels = { ...labels, source: data.source.kind }
  }
  return labels
}
