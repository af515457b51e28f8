import { Client, fetch } from 'undici'
import { connectOptions, parseAddress } from '../../../platform/http/address.ts'
import { readSome } from '../../../platform/http/read-some.ts'
import type { Check, Serving } from '../../../schemas/deployments/deployments.ts'

/** An engine to probe; `header` is sent along. */
export type Engine = {
  /** Ends before `/v1`; read by `parseAddress`. */
  base_url: string
  header: { name: string; value: string } | null
}

/** The probes of an engine, and what a response must contain (the OpenAI API). */
type Question = {
  path: string
  body: Record<string, unknown> | null
  isAnswer: (answer: Record<string, unknown>) => boolean
}

const filled = (value: unknown): boolean => Array.isArray(value) && value.length > 0

const questions: Record<Serving['smoke'], (model: string) => Question> = {
  models: () => ({ path: '/v1/models', body: null, isAnswer: ({ data }) => filled(data) }),
  chat: model => ({
    path: '/v1/chat/completions',
    body: { model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 1 },
    isAnswer: ({ choices }) => filled(choices),
  }),
  completion: model => ({
    path: '/v1/completions',
    body: { model, prompt: 'Hello', max_tokens: 1 },
    isAnswer: ({ choices }) => filled(choices),
  }),
  embedding: model => ({
    path: '/v1/embeddings',
    body: { model, input: 'Hello' },
    isAnswer: ({ data }) => filled(data),
  }),
}

/** Maximum bytes read of a response; a complete one is far smaller. */
const maxAnswerBytes = 1024 * 1024

export type Until = { timeoutMs: number; signal: AbortSignal }

/** Probes the engine once. Never throws: a failure becomes the `detail` of the check. */
export async function ask(
  engine: Engine,
  asked: { smoke: Serving['smoke']; model: string },
  until: Until,
): Promise<Check> {
  const name = `smoke_${asked.smoke}`
  const began = performance.now()
  const detail = await answerOf(engine, questions[asked.smoke](asked.model), until).catch(
    (error: unknown) => probeErrorText(error, until.timeoutMs),
  )
  return { name, ok: detail === null, latency_ms: Math.round(performance.now() - began), detail }
}

/** Null if the response is as expected; otherwise the fault. */
async function answerOf(
  { base_url, header }: Engine,
  { path, body, isAnswer }: Question,
  { timeoutMs, signal }: Until,
): Promise<string | null> {
  const address = parseAddress(base_url)
  // A connection for each probe, so that it meets the process that listens now.
  const dispatcher = new Client(address.origin, { connect: connectOptions(address, timeoutMs) })
  try {
    const response = await fetch(`${address.origin}${address.prefix}${path}`, {
      dispatcher,
      method: body === null ? 'GET' : 'POST',
      headers: {
        ...(body !== null && { 'content-type': 'application/json' }),
        ...(header && { [header.name]: header.value }),
      },
      body: body === null ? null : JSON.stringify(body),
      // A redirect could lead anywhere, with the secret header.
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    const text = await readSome(response, maxAnswerBytes)
    if (response.status === 200)
      return isAnswer(parsed(text))
        ? null
        : `${path} returned 200, but not the response of the OpenAI API`
    const said = withoutSecret(text, header).slice(0, 500).replaceAll(/\s+/g, ' ')
    return `${path} returned ${response.status}: ${said}`
  } finally {
    await dispatcher.destroy()
  }
}

/** An engine may echo the request; the secret must not be shown to readers of a failed check. */
function withoutSecret(text: string, header: { value: string } | null): string {
  if (header === null) return text
  const parts = [header.value, ...header.value.split(/\s+/)].filter(part => part.length >= 6)
  return parts.reduce((left, part) => left.replaceAll(part, '***'), text)
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

function probeErrorText(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no response within ${timeoutMs / 1000} s`
  const cause = error.cause instanceof Error ? error.cause : error
  return 'code' in cause ? `cannot be reached: ${cause.code}` : cause.message
}
