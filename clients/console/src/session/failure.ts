import type { faultText } from '../words/faults.ts'

/** Words for the faults of a 422. */
export type FaultText = typeof faultText

/** A response of the server other than success (specification, "Errors"). */
export class ApiFailure extends Error {
  readonly status: number
  readonly code: string | null
  readonly requestId: string | null
  /** What to do about it. */
  readonly hint: string | null
  /** The whole body, e.g. `errors` of a 422 or `gates` of a refused submission. */
  readonly body: Readonly<Record<string, unknown>>
  constructor(
    status: number,
    body: Readonly<Record<string, unknown>>,
    requestId: string | null,
    textOf: FaultText = ({ msg }) => msg,
  ) {
    super(detailTextOf(body, textOf) ?? `The server returned ${status}`)
    this.status = status
    this.code = typeof body.code === 'string' ? body.code : null
    this.requestId = requestId
    this.hint = typeof body.hint === 'string' ? body.hint : null
    this.body = body
  }
}

/** The server could not be reached, or did not finish its response. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super('The server does not respond', { cause })
  }
}

/** Nobody is signed in in this tab any longer. */
export class SignedOut extends Error {
  constructor() {
    super('The sign-in has ended')
  }
}

type Item = { loc?: unknown; msg?: unknown; type?: unknown; ctx?: unknown }

/** The text of a refusal; for a 422, each fault with its place. */
function detailTextOf(
  { detail }: Readonly<Record<string, unknown>>,
  textOf: FaultText,
): string | null {
  if (typeof detail === 'string') return detail
  if (!Array.isArray(detail)) return null
  return detail
    .slice(0, 10)
    .map((item: Item) => [
      Array.isArray(item.loc) ? item.loc.slice(1).join('.') : '',
      faultOf(item, textOf),
    ])
    .map(([place, msg]) => (place === '' ? msg : `${place}: ${msg}`))
    .join('\n')
}

const faultOf = ({ type, msg, ctx }: Item, textOf: FaultText): string =>
  textOf({ type: String(type), msg: String(msg), ctx: { ...(ctx as object) } })

/** Whether the same request may succeed later without anybody's intervention. */
export const isPassing = (error: unknown): boolean =>
  error instanceof Unreachable ||
  (error instanceof ApiFailure &&
    (error.status === 429 || error.status >= 502 || isRestarting(error)))

const isRestarting = ({ status }: ApiFailure): boolean => status === 503
