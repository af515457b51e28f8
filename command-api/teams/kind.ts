import type { Kind } from '../kind.ts'

/** Teams; their projects, deployments and jobs use them. */
export const teamKind: Kind = {
  name: 'team',
  resourceOf(event) {
    switch (event.type) {
      case 'team.created':
        return { id: event.data.name, is: 'there', name: event.data.name }
      case 'team.deleted':
        return { id: event.data.name, is: 'deleted' }
      default:
        return null
    }
  },
  usesOf: () => [],
}
