import { maxTags } from '../../schemas/jobs/jobspec.ts'
import type { Description } from '../../schemas/runs/runs.ts'

type Tagged = { tags?: readonly string[] } & Pick<Description, 'add_tags'>

/** Replaces `add_tags` by `tags`: those of the change, else the current ones, and then the added ones, up to the limit. */
export function mergeTags<Change extends Tagged>(
  change: Change,
  current: readonly string[],
): Omit<Change, 'add_tags'> {
  const { add_tags, ...words } = change
  if (add_tags === undefined) return words
  const tags = [...new Set([...(words.tags ?? current), ...add_tags])].slice(0, maxTags)
  return { ...words, tags }
}
