import type { Stamped } from '../../events/event.ts'
import type { RubricContent, RubricEvent } from '../../events/rubrics.ts'

/** Null before the first version. */
export type Rubric = {
  content: RubricContent
  created_at: string
  updated_at: string
  updated_by: string
} | null

export const noRubric: Rubric = null

export type ReviseRubric = Omit<RubricContent, 'version'>

/** A body that says what is already there changes nothing; any other one makes the next version. */
export function reviseRubric(rubric: Rubric, command: ReviseRubric): RubricEvent[] {
  if (rubric?.content.digest === command.digest) return []
  const version = (rubric?.content.version ?? 0) + 1
  return [{ type: 'rubric.updated', data: { ...command, version } }]
}

export function evolve(rubric: Rubric, event: Stamped<RubricEvent>): Rubric {
  switch (event.type) {
    case 'rubric.updated':
      return {
        content: event.data,
        created_at: rubric?.created_at ?? event.occurred_at,
        updated_at: event.occurred_at,
        updated_by: event.actor.id,
      }
  }
}
