import type { Kind } from '../kind.ts'

export const reflowKind: Kind = {
  name: 'reflow',
  resourceOf(event) {
    switch (event.type) {
      case 'reflow.created': {
        const { reflow_id, name, owner } = event.data
        return { id: reflow_id, is: 'there', name, owner }
      }
      case 'reflow.deleted':
        return { id: event.data.reflow_id, is: 'deleted' }
      default:
        return null
    }
  },
  usesOf: () => [],
}
