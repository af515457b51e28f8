export type {
  AnnotationAgreement as Agreement,
  AnnotationAnswer as Answer,
  AnnotationClaim as Claim,
  AnnotationDetail as Detail,
  AnnotationRow as Row,
} from '../../../../../schemas/annotations.ts'

export const pathOf = (queue_id: string): string =>
  `/api/annotations/${encodeURIComponent(queue_id)}`

/** A statistic with two digits; a dash where it is undefined. */
export const figure = (value: number | null): string => (value === null ? '–' : value.toFixed(2))
