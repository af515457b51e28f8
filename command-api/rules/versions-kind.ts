import type { DecisionEvent } from '../../events/all.ts'
import type { Kind } from '../kind.ts'

type Version = { owner: string; name: string; version: number | string }
type OfVersion = Extract<DecisionEvent, { data: Version }>

/** Versions as things that others use: `owner/name@version`, from the event that makes one to the event that deletes it. */
export const resourceOfVersions =
  (made: OfVersion['type'], deleted: OfVersion['type']): Kind['resourceOf'] =>
  event => {
    if (event.type !== made && event.type !== deleted) return null
    const { owner, name, version } = (event as OfVersion).data
    const id = `${owner}/${name}@${version}`
    return event.type === made ? { id, is: 'there', name: id, owner } : { id, is: 'deleted' }
  }
