/** Every way Forge refuses a caller, with the HTTP status of the specification's "Errors" table. */
export const statusOfRefusal = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  gone: 410,
  length_required: 411,
  precondition_failed: 412,
  too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  rate_limited: 429,
  not_configured: 501,
  backend_failed: 502,
  unavailable: 503,
} as const

export type RefusalCode = keyof typeof statusOfRefusal

/** For the API's documentation; a refusal's `detail` gives the specifics. A narrower `code` may follow. */
export const meaningOfRefusal: Record<RefusalCode, string> = {
  invalid: 'the values fit the schema, but not the rules',
  unauthenticated: 'the caller is not validly identified',
  forbidden: 'the caller may not do this',
  not_found: 'no such resource is visible to the caller',
  method_not_allowed: 'the path does not support this method',
  conflict: 'the current state of the resource does not allow this',
  gone: 'it existed, and was deleted permanently',
  length_required: 'the request does not state its length',
  precondition_failed: 'the resource is no longer what the request supposes',
  too_large: 'the body is larger than this route reads',
  unsupported_media_type: 'the body has a type that this route does not read',
  range_not_satisfiable: 'the file does not have the bytes requested by `Range`',
  rate_limited: 'too many calls; `Retry-After` says when to try again',
  not_configured: 'this installation is not configured for it',
  backend_failed: 'a service behind this one failed',
  unavailable: 'the server or a part of it is temporarily unavailable; try again',
}

export type RefusalExtras = {
  /** Stable dotted code for programs, e.g. `database.unavailable`; default: the refusal code. */
  code?: string
  data?: Record<string, unknown>
  /** What the caller can do about it. */
  hint?: string
  retryAfterSeconds?: number
  /** Top-level fields of the body besides `detail`, e.g. `error` where RFC 6749 requires it (5.2). */
  fields?: Record<string, unknown>
  cause?: unknown
}

/**
 * A problem that the caller can solve: `detail` names the fault in the values, then the remedy.
 * Thrown by pure rules and by routes; only the HTTP boundary turns it into `{detail}` and a status.
 */
export class Refusal extends Error {
  readonly code: RefusalCode
  readonly detail: string
  readonly extras: RefusalExtras
  readonly expose = true

  constructor(code: RefusalCode, detail: string, extras: RefusalExtras = {}) {
    super(detail, { cause: extras.cause })
    this.name = 'Refusal'
    this.code = code
    this.detail = detail
    this.extras = extras
  }

  get status(): number {
    return statusOfRefusal[this.code]
  }
}
