import type { Context, Next } from 'koa'
import { isHubPath } from '../../schemas/hub-facade.ts'
import { inOneSentence, isRefused } from './faults-in-words.ts'

/** The Hub's words for our refusals, by our narrower code (`huggingface_hub/utils/_http.py`). */
const errorCodes: Readonly<Record<string, string>> = {
  not_found: 'RepoNotFound',
  'hub.revision_not_found': 'RevisionNotFound',
  'hub.entry_not_found': 'EntryNotFound',
  'dataset.not_usable': 'GatedRepo',
}

/** Clients of the Hub know invalid requests by this status. */
export const hubFaultStatus = 400

/** npm's client demands tokens that begin as those of the Hub do; ours follow. */
const prefixOfHub = /^Bearer +hf_(?=ey|fit_)/i

/** Clients of the Hub read its headers and `error`; their tokens may have its prefix. */
export async function speakAsHub(ctx: Context, next: Next): Promise<void> {
  if (!isHubPath(pathOf(ctx))) return next()
  const { headers } = ctx.req
  if (headers.authorization)
    headers.authorization = headers.authorization.replace(prefixOfHub, 'Bearer ')
  await next()
  if (ctx.status < 400 || !isRefused(ctx.body)) return
  const { body, status } = ctx
  const message =
    ctx.state.route === undefined && status === 404
      ? `Forge does not offer ${ctx.path} of the Hub's API`
      : inOneSentence(body.detail)
  const code = ctx.state.route === undefined ? undefined : errorCodes[body.code ?? '']
  if (code) ctx.set('X-Error-Code', code)
  ctx.set('X-Error-Message', inHeader(message))
  if (status === 422) ctx.status = hubFaultStatus
  ctx.body = { error: message, ...body }
}

/** Paths that cannot be parsed are refused later. */
function pathOf(ctx: Context): string {
  try {
    return ctx.path
  } catch {
    return ''
  }
}

/** Headers have one line of ASCII. */
const inHeader = (text: string): string => text.replaceAll(/[^\x20-\x7e]+/g, '?').slice(0, 500)
