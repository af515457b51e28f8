import type { Kind } from '../kind.ts'

export const uploadKind: Kind = {
  name: 'upload',
  resourceOf(event) {
    if (event.type !== 'upload.requested') return null
    const { upload_id, owner } = event.data
    return { id: upload_id, is: 'there', owner }
  },
  usesOf: () => [],
}
