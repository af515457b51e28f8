import type { Kind } from '../kind.ts'

export const annotationKind: Kind = {
  name: 'annotation',
  resourceOf(event) {
    if (event.type !== 'annotation.queue_created') return null
    const { queue_id, name, owner, project } = event.data
    return { id: queue_id, is: 'there', name, owner, project }
  },
  usesOf: () => [],
}
