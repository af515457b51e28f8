import { hubReference } from '../../schemas/hub-reference.ts'
import type { Kind } from '../kind.ts'

/** The imports of people; runs use them (command-api/jobs/kind.ts). */
export const hubImportKind: Kind = {
  name: 'hub_import',
  resourceOf(event) {
    switch (event.type) {
      case 'hub.import_requested': {
        const { import_id: id, owner } = event.data
        return { id, is: 'there', name: hubReference(event.data), owner }
      }
      case 'hub.import_deleted':
        return { id: event.data.import_id, is: 'deleted' }
      default:
        return null
    }
  },
  usesOf: () => [],
}
