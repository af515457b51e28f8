import type { Rubric, RubricContent, RubricEvent } from '../../events/rubrics.ts'

export type ReviseRubric = Omit<RubricContent, 'version'>

/** Creates the next version. Idempotent: repeating the current body appends no event. */
export function reviseRubric(rubric: Rubric, command: ReviseRubric): RubricEvent[] {
  if (rubric?.content.digest === command.digest) return []
  const version = (rubric?.content.version ?? 0) + 1
  return [{ type: 'rubric.updated', data: { ...command, version } }]
}
