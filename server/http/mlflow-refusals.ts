import type { Context, Next } from 'koa'
import type { RefusalCode } from '../../platform/refusal.ts'
import { isMlflowPath } from '../../schemas/mlflow.ts'
import { inOneSentence, isRefused } from './faults-in-words.ts'

/** MLflow's words for our refusals (`mlflow/protos/databricks.proto`). */
const errorCodes: Partial<Record<RefusalCode, string>> = {
  invalid: 'INVALID_PARAMETER_VALUE',
  unauthenticated: 'UNAUTHENTICATED',
  forbidden: 'PERMISSION_DENIED',
  not_found: 'RESOURCE_DOES_NOT_EXIST',
  method_not_allowed: 'ENDPOINT_NOT_FOUND',
  conflict: 'INVALID_STATE',
  too_large: 'REQUEST_LIMIT_EXCEEDED',
  rate_limited: 'REQUEST_LIMIT_EXCEEDED',
  not_configured: 'NOT_IMPLEMENTED',
  unavailable: 'TEMPORARILY_UNAVAILABLE',
}
const byStatus: Readonly<Record<number, RefusalCode>> = {
  400: 'invalid',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  413: 'too_large',
  422: 'invalid',
  429: 'rate_limited',
  501: 'not_configured',
  503: 'unavailable',
}

/** MLflow's clients know invalid requests by this status. */
export const mlflowFaultStatus = 400

/** MLflow's clients raise `error_code: message`. */
export async function rephraseForMlflow(ctx: Context, next: Next): Promise<void> {
  await next()
  if (ctx.status < 400 || !isMlflowPath(ctx.path) || !isRefused(ctx.body)) return
  const { body, status } = ctx
  if (ctx.state.route === undefined && status === 404) {
    const detail = `Forge does not offer ${ctx.path} of MLflow's API`
    ctx.body = { error_code: 'ENDPOINT_NOT_FOUND', message: detail, ...body, detail }
    return
  }
  const code = byStatus[status]
  const error_code = body.error_code ?? (code && errorCodes[code]) ?? 'INTERNAL_ERROR'
  if (status === 422) ctx.status = mlflowFaultStatus
  ctx.body = { error_code, message: inOneSentence(body.detail), ...body }
}
