import { environmentReference } from '../../schemas/rl-environments/reference.ts'
import type { Kind } from '../kind.ts'
import { resourceOfVersions } from '../rules/versions-kind.ts'

/** The versions of RL environments: `owner/name@version`. Runs use them (command-api/jobs/kind.ts). */
export const rlEnvironmentKind: Kind = {
  name: 'rl_environment',
  resourceOf: resourceOfVersions('environment.published', 'environment.version_deleted'),
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
