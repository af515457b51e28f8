import type { Context } from 'koa'
import type { Logger } from 'pino'
import { logRefusal } from '../../platform/http/boundary.ts'
import { Refusal } from '../../platform/refusal.ts'

/** Shows a refusal as a page to browsers; other clients get the usual JSON. */
export async function withRefusedPage(
  { ctx, requestId }: { ctx: Context; requestId: string },
  logger: Logger,
  work: () => Promise<void>,
): Promise<string | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (!(error instanceof Refusal) || ctx.accepts('json', 'html') !== 'html') throw error
    logRefusal(ctx, error, { log: logger, describe: () => ({}) })
    ctx.status = error.status
    ctx.type = 'text/html; charset=utf-8'
    ctx.set('Content-Security-Policy', policy)
    return page(error, requestId)
  }
}

const policy =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'"

/** Offers another account where this one was refused, because the provider may have a session. */
const page = ({ detail, code, extras }: Refusal, requestId: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Not signed in · Forge</title>
<link rel="icon" href="data:,">
</head>
<body>
<header>
  <span class="brand">Forge</span>
  <h1>Not signed in</h1>
</header>
<main>
  <section class="panel">
    <p role="alert">${escaped(detail)}</p>
    <p><a href="login${code === 'forbidden' && extras.code !== 'origin.foreign' ? '?prompt=login' : ''}">Sign in again</a></p>
    <p><small>Request ${escaped(requestId)}</small></p>
  </section>
</main>
</body>
</html>
`

const escaped = (text: string) =>
  text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
