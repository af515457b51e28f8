import { isRecord } from '../program/is-record.ts'
import { version } from '../program/version.ts'

/** The address for the reports of a run. */
export type Address = { endpoint: string; run_id: string; token: string }

/** A report without the id of its run, in the form posted to `route` and stored in the spool. */
export type Report = { route: 'lifecycle' | 'logs'; body: Record<string, unknown> }

/** The platform's request to the code of a run, in each response to its reports. */
export type Control = 'none' | 'checkpoint_and_exit' | 'exit'

/** `refused`: the server will never take it; `not now`: it may later, or the server cannot be reached. */
export type Reply =
  | { outcome: 'taken'; body: Record<string, unknown>; control: Control }
  | { outcome: 'refused' | 'not now'; why: string; status: number | null }

const timeoutMs = 15_000

/** Statuses about the request itself; any other may be temporary, or come from a proxy. */
const refusals = [400, 409, 413, 422]

/** Posts one report, once. Never throws. */
export const deliver = (
  { endpoint, run_id, token }: Address,
  { route, body }: Report,
  giveUp: AbortSignal,
): Promise<Reply> => {
  const headers = { 'x-service-token': token }
  return postOnce(`${endpoint}/${route}`, { headers, body: { run_id, ...body }, giveUp })
}

type Post = { headers: Record<string, string>; body: unknown; giveUp: AbortSignal }

/** Never throws. */
export async function postOnce(url: string, { headers, body, giveUp }: Post): Promise<Reply> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        'user-agent': `forge-run/${version}`,
        ...headers,
      },
      body: JSON.stringify(body),
      // Followed, a redirect to a login page would look like success.
      redirect: 'manual',
      signal: AbortSignal.any([giveUp, AbortSignal.timeout(timeoutMs)]),
    })
    return judge(response, parsed(await response.text()))
  } catch (error) {
    return { outcome: 'not now', why: reasonOf(error), status: null }
  }
}

function judge({ ok, status, headers }: Response, body: unknown): Reply {
  if (ok && isRecord(body)) return { outcome: 'taken', body, control: controlOf(headers) }
  const detail = isRecord(body) ? body.detail : undefined
  const isDetail = typeof detail === 'string' || Array.isArray(detail)
  if (!isDetail || !headers.has('x-request-id')) {
    const why = `${status}, not from Forge but from something else at its address or in front of it`
    return { outcome: 'not now', why, status: null }
  }
  const words = typeof detail === 'string' ? detail : JSON.stringify(detail).slice(0, 500)
  const outcome = refusals.includes(status) ? 'refused' : 'not now'
  return { outcome, why: `${status} ${words}`, status }
}

function controlOf(headers: Headers): Control {
  const action = headers.get('forge-control')?.split(';')[0]?.trim()
  return action === 'exit' || action === 'checkpoint_and_exit' ? action : 'none'
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error ? error.cause : error
  return cause.message || cause.name
}
