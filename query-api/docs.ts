import type { Route } from '../auth/route.ts'
import { route } from '../auth/route.ts'
import { once } from '../platform/once.ts'

/** `/api/openapi.json` for people: one page without scripts or external addresses. */
export function docsRoute(openApi: () => Record<string, unknown>): Route {
  // Anybody may ask for it, and making it takes as long as a hundred other requests.
  const text = once(() => page(openApi() as ApiDocument))
  return route({
    method: 'GET',
    path: '/api/docs',
    credential: 'none',
    tag: 'general',
    summary: 'The API as a readable page',
    response: { mediaType: 'text/html', description: 'A page' },
    async handle({ ctx }) {
      ctx.type = 'text/html; charset=utf-8'
      ctx.set(
        'Content-Security-Policy',
        [
          "default-src 'none'",
          "style-src 'unsafe-inline'",
          "frame-ancestors 'none'",
          "base-uri 'none'",
          "form-action 'none'",
        ].join('; '),
      )
      return text()
    },
  })
}

type Operation = {
  tags?: string[]
  summary?: string
  description?: string
  'x-codeSamples'?: { source: string }[]
  security?: Record<string, unknown>[]
  parameters?: { name: string; in: string; required: boolean; schema: unknown }[]
  requestBody?: { content: Record<string, { schema: unknown }> }
  responses: Record<string, { description: string; content?: Record<string, { schema: unknown }> }>
}
type ApiDocument = { paths: Record<string, Record<string, Operation>>; info: { version: string } }

function page(document: ApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const byTag = Map.groupBy(operations, ({ operation }) => operation.tags?.[0] ?? 'other')
  const sections = [...byTag].map(
    ([tag, list]) =>
      `<section><h2 id="${escapeHtml(tag)}">${escapeHtml(tag)}</h2>${list.map(operationHtml).join('')}</section>`,
  )
  const contents = [...byTag.keys()]
    .map(tag => `<a href="#${escapeHtml(tag)}">${escapeHtml(tag)}</a>`)
    .join(' ')
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Forge API</title>
<meta name="viewport" content="width=device-width"><style>${style}</style></head><body>
<h1>Forge API <small>${escapeHtml(document.info.version)}</small></h1>
<p>The document for programs: <a href="openapi.json">/api/openapi.json</a></p><nav>${contents}</nav>
${sections.join('\n')}</body></html>`
}

function operationHtml({
  path,
  method,
  operation,
}: {
  path: string
  method: string
  operation: Operation
}) {
  const credential = operation.security?.flatMap(one => Object.keys(one)).join(' or ') || 'none'
  const parameters = (operation.parameters ?? [])
    .map(
      p =>
        `<li><code>${escapeHtml(p.name)}</code> in ${p.in}${p.required ? ', required' : ''} <code>${schemaText(p.schema)}</code></li>`,
    )
    .join('')
  const body = operation.requestBody?.content['application/json']?.schema
  const answers = Object.entries(operation.responses)
    .map(
      ([status, answer]) =>
        `<li>${status}: ${escapeHtml(answer.description)}${answerSchema(status, answer.content)}</li>`,
    )
    .join('')
  return `<details><summary><b class="${method}">${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code> ${escapeHtml(operation.summary ?? '')}</summary>
<p>${escapeHtml(operation.description ?? '')}</p><p>Credential: ${escapeHtml(credential)}</p><p>Example</p><pre>${escapeHtml(operation['x-codeSamples']?.[0]?.source ?? '')}</pre>${parameters && `<ul>${parameters}</ul>`}
${body ? `<p>Body</p><pre>${schemaText(body)}</pre>` : ''}<p>Answers</p><ul>${answers}</ul></details>`
}

function answerSchema(status: string, content?: Record<string, { schema: unknown }>): string {
  const schema = content?.['application/json']?.schema
  return status === '200' && schema ? `<pre>${schemaText(schema)}</pre>` : ''
}

const schemaText = (schema: unknown) => escapeHtml(JSON.stringify(schema, null, 2))

const escapeHtml = (text: string) =>
  text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)

const style = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
code,pre{font:13px/1.4 ui-monospace,monospace}pre{overflow:auto;max-height:24rem;background:#8881;padding:.5rem}
details{border-bottom:1px solid #8884;padding:.4rem 0}summary{cursor:pointer}nav a{margin-right:1rem}
summary b{display:inline-block;min-width:4rem}`
