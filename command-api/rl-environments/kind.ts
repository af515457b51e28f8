import { environmentReference } from '../../schemas/rl-environments/reference.ts'
import type { Kind } from '../kind.ts'

/** The versions of RL environments: `owner/name@version`. Runs use them (command-api/jobs/kind.ts). */
export const rlEnvironmentKind: Kind = {
  name: 'rl_environment',
  resourceOf(event) {
    switch (event.type) {
      case 'environment.published': {
        const id = environmentReference(event.data)
        return { id, is: 'there', name: id, owner: event.data.owner }
      }
      case 'environment.version_deleted':
        return { id: environmentReference(event.data), is: 'deleted' }
      default:
        return null
    }
  },
  usesOf(event) {
    if (event.type !== 'environment.published' && event.type !== 'environment.version_deleted')
      return []
    const user = { kind: 'rl_environment', id: environmentReference(event.data) }
    const ended = { begins: false as const, user, as: 'content' }
    if (event.type === 'environment.version_deleted') return [ended]
    // A version that is built again may come from another upload.
    const used = { kind: 'upload', id: event.data.upload_id }
    return [ended, { begins: true as const, user, used, as: 'content' }]
  },
}
