import type { Kind } from '../kind.ts'

export const rubricKind: Kind = {
  name: 'rubric',
  resourceOf(event) {
    if (event.type !== 'rubric.updated') return null
    const { owner, name, visibility } = event.data
    return { id: `${owner}/${name}`, is: 'there', owner, visibility }
  },
  usesOf: () => [],
}
