import type { Kind } from '../kind.ts'

export const projectKind: Kind = {
  name: 'project',
  resourceOf(event) {
    switch (event.type) {
      case 'project.created': {
        const { name, owner, visibility } = event.data
        return { id: name, is: 'there', name, owner, project: name, visibility }
      }
      case 'project.changed': {
        const { name, visibility } = event.data
        return { id: name, is: 'there', visibility }
      }
      default:
        return null
    }
  },
  usesOf: () => [],
}
