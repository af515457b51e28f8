import { text } from 'node:stream/consumers'
import { type Outgoing, type OutgoingAnswer, Unreachable } from '../../platform/http/outgoing.ts'
import { printable as printableCharacter } from '../../schemas/shared.ts'

/** A hub and the client that asks it. */
export type Service = { endpoint: string; outgoing: Outgoing }

/** The hub refuses, in its own words. */
export class NotGiven extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

export const answerMs = 15_000
const maxAnswerBytes = 32 * 1024 * 1024

export type Read = { answer: OutgoingAnswer; value: object }

/** Without these, the address is read. */
type More = {
  method?: 'POST'
  body?: string
  type?: string
  accept?: string
  withinMs?: number
}

export async function read(
  { endpoint, outgoing }: Service,
  path: string,
  token: string | null,
  { type, accept, withinMs = answerMs, ...more }: More = {},
): Promise<Read> {
  const signal = AbortSignal.timeout(withinMs)
  const url = new URL(`${endpoint}${path}`)
  const headers = { ...(type && { 'content-type': type }), ...(accept && { accept }) }
  const answer = await asked(() => outgoing.ask(url, { ...more, headers, bearer: token, signal }))
  if (answer.status < 200 || answer.status > 299) throw refusalOf(answer)
  return { answer, value: await asked(() => jsonOf(answer)) }
}

/** All other faults count as an outage of the hub. */
export async function asked<T>(ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof Unreachable) throw error
    throw new Unreachable(error instanceof Error ? error.message : String(error))
  }
}

/** The hub's own words, which clients of Hugging Face show as well. */
export function refusalOf(answer: OutgoingAnswer): Error {
  const { status } = answer
  discard(answer)
  if (status >= 500 || status === 429 || status === 408)
    return new Unreachable(`it answers with status ${status}`)
  const code = answer.header('x-error-code') ?? ''
  const words = answer.header('x-error-message')
  const message = words === null ? `it answers with status ${status}` : printable(words, 500)
  return new NotGiven(/^\w{1,64}$/.test(code) ? code : '', message)
}

export async function jsonOf({ body }: OutgoingAnswer): Promise<object> {
  let size = 0
  body.on('data', (part: Buffer) => {
    size += part.length
    if (size > maxAnswerBytes) body.destroy(new Unreachable('its answer is too long'))
  })
  const value: unknown = JSON.parse(await text(body))
  if (typeof value !== 'object' || value === null) throw new Unreachable('its answer is no JSON')
  return value
}

export const discard = ({ body }: OutgoingAnswer): unknown => body.on('error', () => {}).destroy()

const isPrintable = new RegExp(`^${printableCharacter}$`, 'u')

export const printable = (text: string, length: number): string =>
  Array.from(text)
    .slice(0, length)
    .map(character => (isPrintable.test(character) ? character : ' '))
    .join('')
