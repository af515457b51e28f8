import type {
  AnnotationAnswer,
  AnnotationKind,
  AnnotationRubric,
  AnswerInput,
} from '../../schemas/annotations.ts'
import type { ValidationError } from '../../schemas/shared.ts'
import { Invalid } from '../../schemas/validate.ts'

type Asking = { kind: AnnotationKind; rubric: AnnotationRubric | null }

const fieldOf = { pairwise: 'choice', rubric: 'scores', edit: 'text' } as const

/** The answer in its recorded form; refuses one that does not fit the kind or the rubric of the queue. */
export function checkedAnswer({ kind, rubric }: Asking, given: AnswerInput): AnnotationAnswer {
  const field = fieldOf[kind]
  const faults: ValidationError[] = []
  if (given[field] === undefined)
    faults.push({
      loc: ['body', 'answer', field],
      msg: 'Field required',
      type: 'missing',
      input: given,
    })
  for (const other of Object.values(fieldOf))
    if (other !== field && given[other] !== undefined)
      faults.push(
        fault([other], given[other], `an answer in a queue of the kind ${kind} has only ${field}`),
      )
  if (rubric && given.scores) faults.push(...scoreFaults(rubric, given.scores))
  if (faults.length > 0) throw new Invalid(faults)
  const { choice = null, scores = null, text = null } = given
  return { choice, scores, text }
}

function scoreFaults(
  { criteria, scale_min, scale_max, ref }: AnnotationRubric,
  scores: Record<string, number>,
): ValidationError[] {
  const known = new Set(criteria.map(({ name }) => name))
  const missing = [...known].filter(name => scores[name] === undefined)
  return [
    ...missing.map(name => ({
      ...{ loc: ['body', 'answer', 'scores', name], msg: 'Field required', type: 'missing' },
    })),
    ...Object.entries(scores).flatMap(([name, score]) => {
      if (!known.has(name)) return [fault(['scores', name], name, `${ref} has no such criterion`)]
      return score < scale_min || score > scale_max
        ? [fault(['scores', name], score, `the scale is from ${scale_min} to ${scale_max}`)]
        : []
    }),
  ]
}

const fault = (field: string[], input: unknown, msg: string): ValidationError => ({
  ...{ loc: ['body', 'answer', ...field], msg: `Value error, ${msg}`, type: 'value_error', input },
})
