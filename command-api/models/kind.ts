import type { Kind } from '../kind.ts'

export const modelKind: Kind = {
  name: 'model',
  resourceOf(event) {
    switch (event.type) {
      case 'model.created': {
        const { model, owner, project } = event.data
        return { id: model, is: 'there', name: model, owner, project }
      }
      case 'model.deleted':
        return { id: event.data.model, is: 'deleted' }
      default:
        return null
    }
  },
  usesOf(event) {
    if (event.type !== 'model.version_created') return []
    const { model, version, artifact_id } = event.data
    const used = { kind: 'artifact', id: artifact_id }
    return [{ begins: true, user: { kind: 'model', id: model }, used, as: String(version) }]
  },
}
