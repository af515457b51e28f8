import type { Kind } from '../kind.ts'

const kind = 'deployment'

export const deploymentKind: Kind = {
  name: kind,
  resourceOf(event) {
    switch (event.type) {
      case 'deployment.created': {
        const { deployment_id, name, owner, project } = event.data
        return { id: deployment_id, is: 'there', name, owner, project }
      }
      case 'deployment.changed': {
        const { deployment_id, name } = event.data
        return { id: deployment_id, is: 'there', name }
      }
      case 'deployment.state_changed':
        return event.data.state === 'deleting'
          ? { id: event.data.deployment_id, is: 'deleted' }
          : null
      case 'deployment.deleted':
        return { id: event.data.deployment_id, is: 'deleted' }
      default:
        return null
    }
  },
  usesOf(event) {
    switch (event.type) {
      case 'deployment.created':
      case 'deployment.changed': {
        const { deployment_id: id, team } = event.data
        const before = { begins: false, user: { kind, id }, as: 'team' } as const
        if (team === null) return [before]
        return [
          before,
          { begins: true, user: { kind, id }, used: { kind: 'team', id: team }, as: 'team' },
        ]
      }
      case 'deployment.revision_created': {
        const { deployment_id, revision_id, source } = event.data
        if (source.artifact_id === null) return []
        const user = { kind, id: deployment_id }
        const used = { kind: 'artifact', id: source.artifact_id }
        return [{ begins: true, user, used, as: revision_id }]
      }
      case 'deployment.revision_failed':
      case 'deployment.revision_retired': {
        const { deployment_id, revision_id } = event.data
        return [{ begins: false, user: { kind, id: deployment_id }, as: revision_id }]
      }
      default:
        return []
    }
  },
}
