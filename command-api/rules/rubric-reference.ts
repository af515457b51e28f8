import { type RubricContent, rubricAt } from '../../events/rubrics.ts'
import type { EventStore } from '../commit/event-store.ts'
import { loadState } from '../commit/snapshots.ts'

/** Only the current version of a rubric can be used. `missing`: not there, or hidden from this person. */
export type FoundRubric =
  | { is: 'found'; ref: string; content: RubricContent }
  | { is: 'missing' }
  | { is: 'outdated'; version: number }

/** The rubric that `owner/name@version` names. */
export async function resolveRubric(
  store: EventStore,
  ref: string,
  { username, role }: { username: string; role: string },
): Promise<FoundRubric> {
  const [, owner, name, version] = /^([^/@]+)\/([^/@]+)@([1-9]\d{0,8})$/.exec(ref) ?? []
  if (!owner || !name) return { is: 'missing' }
  const { state } = await loadState(store, undefined, rubricAt({ owner, name }))
  const content = state?.content
  const isShown = content?.visibility === 'public' || username === owner || role === 'admin'
  if (!content || !isShown) return { is: 'missing' }
  if (content.version !== Number(version)) return { is: 'outdated', version: content.version }
  return { is: 'found', ref, content }
}
