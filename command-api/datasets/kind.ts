import { datasetReference } from '../../schemas/datasets/reference.ts'
import type { Kind, Thing } from '../kind.ts'
import { resourceOfVersions } from '../rules/versions-kind.ts'

/** The versions of datasets: `owner/name@version`. */
export const datasetKind: Kind = {
  name: 'dataset',
  resourceOf: resourceOfVersions('dataset.version_created', 'dataset.version_deleted'),
  usesOf(event) {
    if (event.type === 'dataset.version_created') {
      const { files, tokenizer, parents } = event.data
      const uses: [Thing, string][] = [
        ...files.map((file): [Thing, string] => [upload(file.upload_id), content]),
        ...(tokenizer ? [[upload(tokenizer.upload_id), content] as [Thing, string]] : []),
        ...parents.map((id): [Thing, string] => [{ kind: 'dataset', id }, parent]),
      ]
      const user = { kind: 'dataset', id: datasetReference(event.data) }
      return uses.map(([used, as]) => ({ begins: true, user, used, as }))
    }
    if (event.type !== 'dataset.version_deleted') return []
    const user = { kind: 'dataset', id: datasetReference(event.data) }
    return [content, parent].map(as => ({ begins: false, user, as }))
  },
}

const [content, parent] = ['content', 'parent'] as const
const upload = (id: string): Thing => ({ kind: 'upload', id })
