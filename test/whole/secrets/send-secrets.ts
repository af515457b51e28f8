import type { Forge } from '../../servers/forge.ts'
import { type Secret, unlikely } from './needle.ts'
import type { Place } from './places.ts'

export type Sent = {
  method?: string
  path: string
  headers?: Record<string, string>
  /** Text is sent unchanged. */
  body?: unknown
}
export type Answered = { status: number; headers: Headers; body: Record<string, string> }

/** Sends secrets to a server, and collects all secrets and all responses. */
export type SecretSender = {
  secrets: Secret[]
  /** All responses. */
  answers: Place[]
  /** Makes a new secret. */
  make: (name: string, ...allowed: string[]) => string
  /** Collects an existing secret, e.g. from a response; it may be found only in `allowed` places. */
  take: (name: string, value: string | undefined, ...allowed: string[]) => string
  /** Calls the server, collects the response under `title`, and throws unless it has this status. */
  send: (title: string, status: number, sent: Sent) => Promise<Answered>
}

export function secretSender(forge: Pick<Forge, 'url'>): SecretSender {
  const secrets: Secret[] = []
  const answers: Place[] = []
  const take = (name: string, value: string | undefined, ...allowed: string[]) => {
    if (!value || value.length < 9) throw new Error(`there is no ${name} to look for`)
    secrets.push({ name, value, allowed })
    return value
  }
  return {
    secrets,
    answers,
    take,
    make: (name, ...allowed) => take(name, unlikely(name.replaceAll(' ', '-')), ...allowed),
    async send(title, status, { method = 'POST', path, headers = {}, body }) {
      const response = await fetch(`${forge.url}${path}`, {
        method,
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = await response.text()
      const head = [...response.headers].map(header => header.join(': ')).join('\n')
      answers.push({ name: `answer ${title}`, text: `${head}\n${text}` })
      if (response.status !== status)
        throw new Error(`${title}: ${response.status} instead of ${status}, ${text}`)
      return {
        status,
        headers: response.headers,
        body: text.startsWith('{') ? JSON.parse(text) : {},
      }
    },
  }
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

export const cookieOf = ({ headers }: Answered): string =>
  /^forge_refresh=([^;]+)/.exec(headers.getSetCookie()[0] ?? '')?.[1] ?? ''
