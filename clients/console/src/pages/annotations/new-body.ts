import type { AnnotationInput } from '../../../../../schemas/annotations.ts'

/** What the form chooses from lists. */
export type Choices = {
  project: string
  kind: AnnotationInput['kind']
  from: AnnotationInput['source']['type']
  rubric: string | null
}

/** The queue that a form asks for; fields that are hidden or empty are left out. */
export function bodyOf(
  given: Pick<FormData, 'get'>,
  { project, kind, from, rubric }: Choices,
): AnnotationInput {
  const text = (name: string) => String(given.get(name) ?? '').trim()
  return {
    ...{ name: text('name'), project, kind, source: sourceIn(text, from) },
    ...(kind === 'rubric' && { rubric }),
    ...(text('instructions') !== '' && { instructions: text('instructions') }),
    overlap: Number(text('overlap')),
  }
}

function sourceIn(
  text: (name: string) => string,
  type: Choices['from'],
): AnnotationInput['source'] {
  if (type === 'dataset') {
    const split = text('source.split')
    return { type, ref: text('source.ref'), ...(split !== '' && { split }) }
  }
  const against = roundIn(text, 'source.against')
  return {
    ...{ type, ...roundIn(text, 'source') },
    ...(Object.keys(against).length > 0 && { against }),
  }
}

function roundIn(text: (name: string) => string, of: string): { run_id?: string; step?: number } {
  const [run_id, step] = [text(`${of}.run_id`), text(`${of}.step`)]
  return { ...(run_id !== '' && { run_id }), ...(step !== '' && { step: Number(step) }) }
}
