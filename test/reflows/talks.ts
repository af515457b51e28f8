import type { RequestListener } from 'node:http'
import type { ReflowDetail, ReflowPreview } from '../../schemas/reflows.ts'
import { deployed } from '../gateway/deployed.ts'
import type { Reply } from '../servers/api.ts'
import { serveEngine } from '../servers/engine.ts'
import type { Forge } from '../servers/forge.ts'
import type { Scope } from '../servers/postgres.ts'
import { until } from '../servers/until.ts'

type Calls = Pick<Forge, 'call' | 'url'>

export const secrets = {
  email: 'eve.planted@example.com',
  key: 'sk-planted0123456789abcdef',
  card: '4111 1111 1111 1111',
}

/** An engine that repeats the last message, whole or in pieces, and adds an address and a key. */
export const echo: RequestListener = (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('end', () => {
    const text = Buffer.concat(chunks).toString()
    const body = text === '' ? {} : JSON.parse(text)
    const said = body.messages?.at(-1)?.content ?? body.prompt ?? ''
    const answer = `You said: ${said}. Write to ${secrets.email}, with ${secrets.key}`
    const usage = { prompt_tokens: 5, completion_tokens: answer.length }
    if (body.stream !== true) {
      response.writeHead(200, { 'content-type': 'application/json' })
      const choice = body.messages
        ? { index: 0, message: { role: 'assistant', content: answer } }
        : { index: 0, text: answer }
      response.end(JSON.stringify({ data: [{ id: 'default' }], choices: [choice], usage }))
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    // Pieces cut through the address and the key.
    for (const piece of answer.match(/[\s\S]{1,3}/g) ?? [])
      response.write(
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: piece } }] })}\n\n`,
      )
    response.write(`data: ${JSON.stringify({ choices: [], usage })}\n\n`)
    response.end('data: [DONE]\n\n')
  })
}

/** A deployment of an engine that echoes, with one token that captures and one that does not. */
export async function startTalks(t: Scope, forge: Forge, name: string) {
  const made = await deployed(forge, name, [await serveEngine(t, echo)])
  const { body } = await forge.call<{ token: string; token_id: string; capture: boolean }>(
    'POST',
    `${made.path}/tokens`,
    { body: { name: 'captures', capture: true } },
  )
  const send = (url: string, token: string, content: string, more: object = {}) =>
    fetch(`${url}${made.inference}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'default', messages: [{ role: 'user', content }], ...more }),
    })
  return {
    ...made,
    capturing: body,
    send,
    /** Asks with the token that captures; returns the text of the response. */
    async talk(content: string, more: object = {}, on: Calls = forge): Promise<string> {
      const response = await send(on.url, body.token, content, more)
      const text = await response.text()
      if (response.status !== 200) throw new Error(`${response.status}: ${text}`)
      return text
    },
  }
}

type Made = { reflow_id: string }

export async function createReflow(forge: Calls, body: object): Promise<string> {
  const reply = await forge.call<Made>('POST', '/api/reflows', {
    body: { name: 'a reflow', ...body },
  })
  if (reply.status !== 200) throw new Error(`${reply.status}: ${JSON.stringify(reply.body)}`)
  return reply.body.reflow_id
}

export async function preview(forge: Calls, reflow_id: string): Promise<ReflowPreview> {
  const reply = await forge.call<ReflowPreview>('POST', `/api/reflows/${reflow_id}/preview`)
  if (reply.status !== 200) throw new Error(`${reply.status}: ${JSON.stringify(reply.body)}`)
  return reply.body
}

/** Waits until so many requests are stored; they arrive about a second after their responses. */
export const untilCaptured = (forge: Calls, reflow_id: string, count: number) =>
  until(`${count} requests are captured`, 30_000, async () => {
    const { captured } = await preview(forge, reflow_id)
    return captured?.kept === count
  })

export type Fired = ReflowDetail['fired'][number]

/** Fires, and waits for the end. */
export async function fire(forge: Calls, reflow_id: string, body: object = {}): Promise<Fired> {
  const path = `/api/reflows/${reflow_id}`
  const { body: begun } = await forge.call<{ firing: number }>('POST', `${path}/run`, { body })
  return ended(forge, reflow_id, begun.firing)
}

export const ended = (forge: Calls, reflow_id: string, firing: number): Promise<Fired> =>
  until('the firing has ended', 60_000, async () => {
    const { body } = await forge.call<ReflowDetail>('GET', `/api/reflows/${reflow_id}`)
    const found = body.fired?.find(one => one.firing === firing)
    return found && found.state !== 'running' ? found : false
  })

export type VersionRow = {
  messages: { role: string; content: string }[]
  reflow: { source: string; deployment_id: string; token_id: string }
}

/** All rows of a version, once it is ready. */
export async function rowsOf(forge: Calls, ref: string): Promise<VersionRow[]> {
  const [name = '', version = ''] = ref.split('@')
  const path = `/api/datasets/${name}/versions/${version}`
  await until(`${ref} is ready`, 60_000, async () => {
    const { body } = await forge.call<{ state: string }>('GET', path)
    if (body.state === 'invalid') throw new Error(JSON.stringify(body))
    return body.state === 'ready'
  })
  const rows: VersionRow[] = []
  for (let from: number | null = 0; from !== null; ) {
    const { status, body }: Reply<Page> = await forge.call<Page>('GET', `${path}/rows?from=${from}`)
    if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`)
    rows.push(...body.rows.map(({ data }) => data))
    from = body.next
  }
  return rows
}

type Page = { rows: { data: VersionRow }[]; next: number | null }
