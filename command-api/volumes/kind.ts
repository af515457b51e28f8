import type { Kind } from '../kind.ts'

/** The volumes of people; runs use them (command-api/jobs/kind.ts). */
export const volumeKind: Kind = {
  name: 'volume',
  resourceOf(event) {
    switch (event.type) {
      case 'volume.created': {
        const { volume_id: id, owner, name } = event.data
        return { id, is: 'there', name, owner }
      }
      case 'volume.deleted':
        return { id: event.data.volume_id, is: 'deleted' }
      default:
        return null
    }
  },
  usesOf: () => [],
}
