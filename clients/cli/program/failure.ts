import { isRecord } from './is-record.ts'
/** Exit codes. The numbers are part of the interface: scripts branch on them. */
export const exitCode = {
  ok: 0,
  jobFailed: 1,
  /** Files of a dataset have faults, or an import failed. */
  faulty: 1,
  usage: 2,
  refused: 3,
  auth: 4,
  conflict: 5,
  unavailable: 6,
  /** EX_IOERR of sysexits.h. */
  unwritten: 74,
  /** 128 + SIGINT, by shell convention. */
  interrupted: 130,
} as const
export type ExitCode = (typeof exitCode)[keyof typeof exitCode]

/** Ends the command with a code other than 0: `message` for people, `fields` for `--json`. */
export class Failure extends Error {
  readonly exitCode: ExitCode
  /** Further lines for people, e.g. one per rejected field. */
  readonly lines: readonly string[]
  readonly fields: Record<string, unknown>

  constructor(
    code: ExitCode,
    message: string,
    {
      lines = [],
      fields = {},
    }: { lines?: readonly string[]; fields?: Record<string, unknown> } = {},
  ) {
    super(message)
    this.name = 'Failure'
    this.exitCode = code
    this.lines = lines
    this.fields = fields
  }
}

/** The person interrupted a prompt: the command ends silently. */
export class Interrupted extends Error {}

export const usageFailure = (message: string, ...lines: string[]) =>
  new Failure(exitCode.usage, message, { lines })

/** The exit code for an HTTP status (specification, "Errors"). 404 counts as a refusal. */
export function exitCodeOfStatus(status: number): ExitCode {
  if (status === 401 || status === 403) return exitCode.auth
  if (status === 409) return exitCode.conflict
  if (status === 422) return exitCode.usage
  if (status === 429 || (status >= 500 && status !== 501)) return exitCode.unavailable
  return exitCode.refused
}

type ErrorBody = {
  detail?: unknown
  code?: unknown
  gate?: unknown
  data?: unknown
  hint?: unknown
  request_id?: unknown
}

/**
 * Turns a refusal by the server into a failure. `detail` has two forms: text, and the list of rejected fields
 * of a 422 (specification, "Errors"). `body` is the parsed JSON, or the text if it is not JSON.
 */
export function failureOfAnswer(status: number, body: unknown, requestId: string | null): Failure {
  const { detail, code, gate, data, hint, ...rest } = isRecord(body) ? (body as ErrorBody) : {}
  const id = typeof rest.request_id === 'string' ? rest.request_id : requestId
  const fields: Record<string, unknown> = { status, detail: detail ?? null, code: code ?? null }
  if (gate !== undefined) fields.gate = gate
  if (data !== undefined) fields.data = data
  if (hint !== undefined) fields.hint = hint
  fields.request_id = id
  const lines = [
    ...(Array.isArray(detail) ? detail.map(rejectedField) : []),
    ...(typeof gate === 'string' ? [`gate: ${gate}`] : []),
    ...(typeof hint === 'string' ? [`hint: ${hint}`] : []),
    // For searching the server's log, which a mistake of the caller does not need.
    ...(id === null || status < 500 ? [] : [`request: ${id}`]),
  ]
  const text = headline(status, detail, body)
  return new Failure(exitCodeOfStatus(status), withContext(code, text), { lines, fields })
}

/** The detail of maintenance is in an administrator's words, which may be one. */
const withContext = (code: unknown, text: string) =>
  code === 'maintenance' ? `The server is in maintenance: ${text}` : text

function headline(status: number, detail: unknown, body: unknown): string {
  if (typeof detail === 'string') return detail
  if (Array.isArray(detail))
    return `The server rejects ${detail.length} ${detail.length === 1 ? 'field' : 'fields'}`
  // A proxy in front may respond with its own text, often an HTML page.
  const text = typeof body === 'string' ? body.replaceAll(/<[^>]*>|\s+/g, ' ').trim() : ''
  return `The server responded with ${status}${text === '' ? '' : `: ${text.slice(0, 200)}`}`
}

/** `body.spec.params.lr: Input should be a valid number (float_type)` */
function rejectedField(item: unknown): string {
  if (!isRecord(item)) return JSON.stringify(item)
  const loc = Array.isArray(item.loc) ? item.loc.map(String).join('.') : '?'
  const input = item.input === undefined ? '' : `, not ${JSON.stringify(item.input)}`
  return `${loc}: ${String(item.msg ?? 'rejected')}${input} (${String(item.type ?? 'unknown')})`
}
