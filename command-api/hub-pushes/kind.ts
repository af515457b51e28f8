import type { Kind } from '../kind.ts'

/** What people send to the hub. An artifact may be deleted meanwhile, which ends the sending. */
export const hubPushKind: Kind = {
  name: 'hub_push',
  resourceOf(event) {
    if (event.type !== 'hub.push_requested') return null
    const { push_id: id, owner, repo: name } = event.data
    return { id, is: 'there', name, owner }
  },
  usesOf: () => [],
}
