import { createHmac, randomBytes } from 'node:crypto'

const prefix = 'whsec_'
const secretBytes = 32

/** A secret in the form of Standard Webhooks (standardwebhooks.com). */
export const newMessageSecret = (): string => prefix + randomBytes(secretBytes).toString('base64')

export type Message = { id: string; at: Date; body: string }

/** The headers by which a receiver knows that a message comes from us: one signature for each secret, e.g. also for the former one. */
export function signedHeaders(
  { id, at, body }: Message,
  secrets: readonly string[],
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const signatures = secrets.map(secret => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    const mac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
    return `v1,${mac}`
  })
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
