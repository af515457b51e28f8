import type { Person } from '../../auth/caller.ts'
import { type RubricContent, rubricAt } from '../../events/rubrics.ts'
import { Refusal } from '../../platform/refusal.ts'
import { loadState } from '../commit/snapshots.ts'
import type { Deps } from '../deps.ts'

export type Name = { owner: string; name: string }
export type Reader = Pick<Person, 'username' | 'role'>

export const readRubric = async (
  { store }: Deps,
  of: Name,
  reader: Reader,
): Promise<RubricContent> =>
  shownTo(reader, of, (await loadState(store, undefined, rubricAt(of))).state?.content ?? null)

/** A private rubric of another owner looks like a missing one, except to admins. */
export function shownTo(
  { username, role }: Reader,
  { owner, name }: Name,
  rubric: RubricContent | null,
): RubricContent {
  const isShown = rubric?.visibility === 'public' || username === owner || role === 'admin'
  if (rubric && isShown) return rubric
  throw new Refusal('not_found', `No such rubric: ${owner}/${name}`)
}

/** The parts of `owner/name`; usernames have no slash. */
export function nameIn(rubric: string): Name {
  const at = rubric.indexOf('/')
  return { owner: rubric.slice(0, Math.max(0, at)), name: rubric.slice(at + 1) }
}
