import type { Kind } from '../kind.ts'

export const runKind: Kind = {
  name: 'run',
  resourceOf(event) {
    switch (event.type) {
      case 'run.created': {
        const { run_id, owner, project } = event.data
        return { id: run_id, is: 'there', owner, project }
      }
      case 'run.deleted':
        return { id: event.data.run_id, is: 'deleted' }
      case 'run.restored':
        return { id: event.data.run_id, is: 'restored' }
      default:
        return null
    }
  },
  usesOf: () => [],
}
