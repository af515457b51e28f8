import { readSome } from '../../../platform/http/read-some.ts'
import { pause } from '../../../platform/pause.ts'
import {
  type Judged,
  messagesFor,
  reader,
  responseSchema,
  type Score,
  type Standard,
} from './question.ts'

/** The address of a judge, with a fresh credential for each request. */
export type Judge = { url: string; model: string; token: () => string }

/** `isGone`: the judge will not respond to the next sample either. */
export type Answer = { ok: true; score: Score } | { ok: false; error: string; isGone: boolean }

export type Trying = {
  /** How often one sample is asked about. */
  attempts: number
  /** The time limit of one request, in milliseconds. */
  timeoutMs: number
  signal: AbortSignal
}

const maxTokens = 1024
const maxAnswerBytes = 1024 * 1024
const pauseMs = 1000
/** How much of an engine's refusal is kept. */
const shownChars = 300

type Tried = { fault: string; again: boolean; isGone: boolean }

/** Asks for one score, a bounded number of times. A wrong response remains a fault. */
export async function askJudge(
  judge: Judge,
  standard: Standard,
  sample: Judged,
  { attempts, timeoutMs, signal }: Trying,
): Promise<Answer> {
  const read = reader(standard)
  for (let attempt = 1; ; attempt++) {
    const tried = await tryOnce(judge, bodyFor(judge, standard, sample, attempt), {
      read,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    signal.throwIfAborted()
    if (!('fault' in tried)) return { ok: true, score: tried }
    if (!tried.again || attempt >= attempts)
      return { ok: false, error: tried.fault, isGone: tried.isGone }
    await pause(pauseMs * attempt, signal)
    signal.throwIfAborted()
  }
}

const bodyFor = ({ model }: Judge, standard: Standard, sample: Judged, attempt: number): string =>
  JSON.stringify({
    model,
    messages: messagesFor(standard, sample),
    // The same question would get the same wrong response again.
    ...{ temperature: attempt === 1 ? 0 : 0.7, seed: attempt, max_tokens: maxTokens },
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'scores', strict: true, schema: responseSchema(standard) },
    },
  })

type Once = { read: (content: string) => Score | string; signal: AbortSignal }

async function tryOnce(
  { url, token }: Judge,
  body: string,
  { read, signal }: Once,
): Promise<Score | Tried> {
  try {
    const response = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token()}` },
      body,
      redirect: 'error',
      signal,
    })
    const text = await readSome(response, maxAnswerBytes)
    if (response.status !== 200) return refusalOf(response.status, text)
    const content = contentOf(text)
    if (content === null)
      return { fault: 'the response is not one of the OpenAI API', again: true, isGone: false }
    const score = read(content)
    return typeof score === 'string' ? { fault: score, again: true, isGone: false } : score
  } catch (error) {
    return { fault: errorText(error), again: true, isGone: true }
  }
}

function refusalOf(status: number, text: string): Tried {
  const said = text.slice(0, shownChars).replaceAll(/\s+/g, ' ')
  const mayPass = status === 429 || status >= 500
  return {
    fault: `the judge returned ${status}: ${said}`,
    again: mayPass,
    isGone: mayPass || [401, 403, 404].includes(status),
  }
}

function contentOf(text: string): string | null {
  try {
    const content = JSON.parse(text)?.choices?.[0]?.message?.content
    return typeof content === 'string' ? content : null
  } catch {
    return null
  }
}

function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return 'the judge did not respond in time'
  const cause = error.cause instanceof Error ? error.cause : error
  return `the judge cannot be reached: ${'code' in cause ? cause.code : cause.message}`
}
