import type { Rubric, RubricContent, RubricEvent } from '../../events/rubrics.ts'

export type ReviseRubric = Omit<RubricContent, 'version'>

/** A body that says what is already there changes nothing; any other one makes the next version. */
export function reviseRubric(rubric: Rubric, command: ReviseRubric): RubricEvent[] {
  if (rubric?.content.digest === command.digest) return []
  const version = (rubric?.content.version ?? 0) + 1
  return [{ type: 'rubric.updated', data: { ...command, version } }]
}
