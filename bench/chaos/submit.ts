import type { Outcome } from '../../test/whole/chaos/ledger.ts'
import { linesOf, type Operation, pointsOf } from '../../test/whole/chaos/operations.ts'

export type Credentials = {
  /** The administrator's access token. */
  admin: string
  /** Ingest tokens by run. */
  ingest: ReadonlyMap<string, string>
}

export type Submitted = {
  outcome: Outcome
  /** The status, or the error code of the connection. */
  answer: string
  /** A fault of the server: not success, 503, or a connection reset or refused. */
  unexpected: boolean
  /** The body of a success. */
  body: string
}

/** A request without a response for longer counts as a fault, in milliseconds. */
const patienceMs = 30_000

/** Sends one operation once and classifies the outcome. */
export async function submit(
  url: string,
  operation: Operation,
  credentials: Credentials,
): Promise<Submitted> {
  const { method, path, token, body } = requestOf(operation, credentials)
  try {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(patienceMs),
    })
    return conclude(response.status, await response.text())
  } catch (error) {
    return concludeFromError(error)
  }
}

function requestOf(operation: Operation, { admin, ingest }: Credentials) {
  switch (operation.kind) {
    case 'metrics': {
      const { run } = operation
      return {
        method: 'POST',
        path: '/api/ingest/metrics',
        token: ingest.get(run),
        body: { run_id: run, points: pointsOf(operation) },
      }
    }
    case 'logs': {
      const { run, seq } = operation
      const body = { run_id: run, chunks: linesOf(operation), seq, stream: 'stdout' }
      return { method: 'POST', path: '/api/ingest/logs', token: ingest.get(run), body }
    }
    case 'hparams': {
      const { run, params } = operation
      const body = { run_id: run, params }
      return { method: 'POST', path: '/api/ingest/hparams', token: ingest.get(run), body }
    }
    case 'rubric': {
      const { owner, name, salt } = operation
      const criteria = [{ name: 'clarity', weight: 1, description: 'is it clear' }]
      const body = { name, criteria, description: String(salt) }
      return { method: 'PUT', path: `/api/rubrics/${owner}/${name}`, token: admin, body }
    }
    case 'run': {
      const { project, name } = operation
      return { method: 'POST', path: '/api/runs', token: admin, body: { project, name } }
    }
  }
}

function conclude(status: number, body: string): Submitted {
  const answer = String(status)
  if (status >= 200 && status < 300) return { outcome: 'ok', answer, unexpected: false, body }
  // A final refusal. All other failures leave the outcome open.
  if (status >= 400 && status < 500)
    return {
      outcome: 'failed',
      answer: `${answer} ${body.slice(0, 200)}`,
      unexpected: true,
      body: '',
    }
  const unexpected = status !== 503
  return {
    outcome: 'unknown',
    answer: unexpected ? `${answer} ${body.slice(0, 200)}` : answer,
    unexpected,
    body: '',
  }
}

/** A kill may explain these. */
export const brokenConnection = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

function concludeFromError(error: unknown): Submitted {
  const answer = codeOf(error)
  // With a refused connection the operation certainly did not happen.
  if (answer === 'ECONNREFUSED') return { outcome: 'failed', answer, unexpected: false, body: '' }
  return { outcome: 'unknown', answer, unexpected: !brokenConnection.has(answer), body: '' }
}

export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause !== undefined) return codeOf(error.cause)
  if ('code' in error && typeof error.code === 'string') return error.code
  return `${error.name}: ${error.message}`
}
