import { isInStore } from '../../schemas/artifacts/in-store.ts'
import type { Kind } from '../kind.ts'

export const artifactKind: Kind = {
  name: 'artifact',
  resourceOf(event) {
    switch (event.type) {
      case 'artifact.registered': {
        const { artifact_id, run_id } = event.data
        return { id: artifact_id, is: 'there', within: { kind: 'run', id: run_id } }
      }
      case 'artifact.deletion_requested':
        return { id: event.data.artifact_id, is: 'deleted' }
      default:
        return null
    }
  },
  usesOf(event) {
    if (event.type !== 'artifact.registered') return []
    const { artifact_id, path } = event.data
    const upload_id = uploadIn(path)
    if (upload_id === null) return []
    const [user, used] = [
      { kind: 'artifact', id: artifact_id },
      { kind: 'upload', id: upload_id },
    ]
    return [{ begins: true, user, used, as: 'content' }]
  },
}

/** The store names what it holds `forge://<run>/<upload>/<file>`. */
const uploadIn = (path: string): string | null =>
  isInStore(path) ? (path.slice('forge://'.length).split('/')[1] ?? null) : null
