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
      case 'project.transferred': {
        const { name, owner } = event.data
        return { id: name, is: 'there', owner }
      }
      default:
        return null
    }
  },
  usesOf(event) {
    if (event.type !== 'project.transferred') return []
    const { name, team } = event.data
    const user = { kind: 'project', id: name }
    const before = { begins: false, user, as: 'owned' } as const
    if (team === null) return [before]
    return [before, { begins: true, user, used: { kind: 'team', id: team }, as: 'owned' }]
  },
}
