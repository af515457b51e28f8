import type { Kind } from '../kind.ts'

export const runKind: Kind = {
  name: 'run',
  resourceOf(event) {
    switch (event.type) {
      case 'run.created': {
        const { run_id, short_id: name, owner, project } = event.data
        return { id: run_id, is: 'there', name, owner, project }
      }
      case 'run.deleted':
        return { id: event.data.run_id, is: 'deleted' }
      case 'run.restored':
        return { id: event.data.run_id, is: 'restored' }
      case 'run.purged':
        return { id: event.data.run_id, is: 'purged' }
      default:
        return null
    }
  },
  usesOf: () => [],
}
