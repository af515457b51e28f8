import type { Context, Next } from 'koa'
import type { Logger } from 'pino'
import { Invalid } from '../../schemas/validate.ts'
import { LogUnavailable } from '../log/event-log.ts'
import { outOfResources } from '../no-room.ts'
import { isBusy, isOutage } from '../postgres/pool.ts'
import { Refusal } from '../refusal.ts'
import { bodiesFull } from './body-room.ts'
import { clientAddress } from './client-address.ts'

const watched: ReadonlySet<number> = new Set([401, 403, 429])

/** Additional fields for the log lines about refused requests, e.g. the kind of credential. */
export type Describe = (ctx: Context) => Record<string, unknown>

/**
 * The one place that turns failures into responses: `{detail}` and a status, for every route. Requests refused for
 * missing rights or rate limits (401, 403, 429) are logged.
 */
export const errorBoundary =
  (log: Logger, describe: Describe = () => ({})) =>
  async (ctx: Context, next: Next): Promise<void> => {
    try {
      await next()
    } catch (error) {
      answer(ctx, error, { log, describe })
    }
  }

type Logging = { log: Logger; describe: Describe }

function answer(ctx: Context, error: unknown, { log, describe }: Logging): void {
  const requestId = String(ctx.state.requestId)
  if (ctx.headerSent) {
    log.warn(
      { err: error, request_id: requestId, path: ctx.path },
      'failed after the response began',
    )
    ctx.res.destroy()
    return
  }
  if (error instanceof Invalid) {
    ctx.status = 422
    ctx.body = { detail: error.errors, request_id: requestId }
    return
  }
  const refusal = toRefusal(error)
  if (!refusal) {
    log.error({ err: error, request_id: requestId, method: ctx.method, path: ctx.path }, 'defect')
    ctx.status = 500
    ctx.body = {
      detail: 'Defect in the control plane; retry once',
      code: 'defect',
      request_id: requestId,
    }
    return
  }
  logRefusal(ctx, refusal, { log, describe })
  refuse(ctx, refusal, requestId)
}

/** One line about a refusal that somebody may look for: a failure, or a caller without the right to ask. */
export function logRefusal(ctx: Context, refusal: Refusal, { log, describe }: Logging): void {
  if (refusal.status >= 500) logFailure(log, ctx, refusal)
  else if (watched.has(refusal.status))
    log.info(
      {
        request_id: String(ctx.state.requestId),
        method: ctx.method,
        // Not the path, which may contain a device code.
        route: ctx.state.route ?? null,
        status: refusal.status,
        code: refusal.extras.code ?? refusal.code,
        address: clientAddress(ctx),
        ...describe(ctx),
      },
      'turned away',
    )
}

/**
 * What failed, with its stack, if something did. Otherwise it is a decision of the server, such as maintenance, and one
 * that the configuration foresees (501) needs no attention.
 */
function logFailure(log: Logger, ctx: Context, { code, detail, status, extras }: Refusal): void {
  const { cause } = extras
  const fields = { request_id: String(ctx.state.requestId), path: ctx.path, status, detail }
  const named = { ...fields, code: extras.code ?? code, ...(cause !== undefined && { err: cause }) }
  if (code === 'not_configured') log.info(named, 'refused')
  else log.warn(named, 'refused')
}

function refuse(ctx: Context, refusal: Refusal, requestId: string): void {
  const { code, data, hint, retryAfterSeconds, fields } = refusal.extras
  ctx.status = refusal.status
  if (refusal.code === 'unauthenticated') ctx.set('WWW-Authenticate', 'Bearer')
  if (retryAfterSeconds !== undefined) ctx.set('Retry-After', String(retryAfterSeconds))
  // The unread rest of a refused upload would be parsed as the connection's next request.
  if (refusal.code === 'too_large' || code === bodiesFull) ctx.set('Connection', 'close')
  ctx.body = {
    detail: refusal.detail,
    code: code ?? refusal.code,
    request_id: requestId,
    ...(data !== undefined && { data }),
    ...(hint !== undefined && { hint }),
    ...fields,
  }
}

function toRefusal(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error
  const exhausted = outOfResources(error)
  if (exhausted) return exhausted
  if (error instanceof LogUnavailable)
    return new Refusal(
      'unavailable',
      'The event log is not responding; the request may not have been stored, send it again',
      {
        code: 'log.unavailable',
        retryAfterSeconds: 2,
        cause: error,
      },
    )
  if (isOutage(error))
    return new Refusal('unavailable', 'The database is not responding; try again', {
      code: 'database.unavailable',
      retryAfterSeconds: 2,
      cause: error,
    })
  if (isBusy(error))
    return new Refusal('unavailable', 'The database took too long; try again', {
      code: 'database.busy',
      retryAfterSeconds: 2,
      cause: error,
    })
  return null
}
