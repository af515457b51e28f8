type Refused = { detail: unknown; code?: string; error_code?: string }

export const isRefused = (body: unknown): body is Refused =>
  typeof body === 'object' && body !== null && 'detail' in body

type Fault = { loc: readonly (string | number)[]; msg: string }

/** The faults of a request in one sentence, each with its field. */
export const inOneSentence = (detail: unknown): string =>
  Array.isArray(detail)
    ? (detail as Fault[]).map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`).join('; ')
    : String(detail)
