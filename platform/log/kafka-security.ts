import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'

export const saslMechanisms = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const

/** How connections to brokers are protected. */
export type KafkaSecurity = {
  /** PEM files. If `caFile` is null, Node's own list of authorities applies. */
  tls: { caFile: string | null; certFile: string | null; keyFile: string | null } | null
  sasl: {
    mechanism: (typeof saslMechanisms)[number]
    username: string
    password: { text: string } | { file: string }
  } | null
  /** Whether to connect without TLS to brokers that are not on this machine. */
  isPlaintextAllowed: boolean
}

/** For brokers on this machine only. */
export const onLoopbackOnly: KafkaSecurity = { tls: null, sasl: null, isPlaintextAllowed: false }

/** The options for kafkajs. */
export type Protection = {
  ssl?: ConnectionOptions
  sasl?: { mechanism: string; username: string; password: string }
}

/** Reads the files for each connection to a cluster, so that renewed ones are used without a restart. */
export async function readProtection({ tls, sasl }: KafkaSecurity): Promise<Protection> {
  const [ca, cert, key] = await Promise.all(
    [tls?.caFile, tls?.certFile, tls?.keyFile].map(path => (path ? readText(path) : undefined)),
  )
  const ssl = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
  return {
    ...(tls && { ssl }),
    ...(sasl && { sasl: { ...sasl, password: await passwordOf(sasl.password) } }),
  }
}

const passwordOf = async (given: { text: string } | { file: string }): Promise<string> =>
  'text' in given ? given.text : (await readText(given.file)).replace(/\r?\n$/, '')

async function readText(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((cause: Error) => {
    throw new UnreadableFile(`${path} cannot be read: ${cause.message}`, { cause })
  })
  if (text.trim() === '') throw new UnreadableFile(`${path} is empty`)
  return text
}

/** A file named in the settings is missing or empty, or this process may not read it. */
export class UnreadableFile extends Error {}

/** A loopback name, on which no other machine can listen. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

/**
 * Throws if the connection would cross a network that others can read. Brokers announce each other, so each is
 * checked.
 */
export function refusePlaintext(host: string, { tls, isPlaintextAllowed }: KafkaSecurity): void {
  if (tls === null && !isPlaintextAllowed && !isLoopback(host))
    throw new Error(`${host} is not on this machine, and the connection would be without TLS`)
}
