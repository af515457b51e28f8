import type { Readable } from 'node:stream'
import { hasCode } from '../files/content.ts'
import { Refusal } from '../refusal.ts'

type Receiving = { stop: () => void; done: Promise<unknown> }

/** This process's writing requests, by upload id: a newer request ends the older one. */
export class Arriving {
  readonly #receiving = new Map<string, Receiving>()

  async take(id: string, body: Readable, write: () => Promise<number>): Promise<number> {
    const before = this.#receiving.get(id)
    before?.stop()
    await before?.done.catch(() => {})
    const done = write()
    const receiving = { stop: () => void body.destroy(), done }
    this.#receiving.set(id, receiving)
    try {
      return await done
    } catch (error) {
      throw isBrokenOff(error) ? brokenOff(error) : error
    } finally {
      if (this.#receiving.get(id) === receiving) this.#receiving.delete(id)
    }
  }
}

/** Ids become names in the store, so they must not lead elsewhere. */
export function checkId(id: string): string {
  if (!/^[A-Za-z0-9_]{1,80}$/.test(id)) throw new Error(`no upload id: ${id}`)
  return id
}

export function checkDigest(sha256: string): string {
  if (!isDigest(sha256)) throw new Error(`no SHA-256 in hex: ${sha256}`)
  return sha256
}

export const isDigest = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)

/** The client has disconnected, or a newer request has replaced this one. */
const isBrokenOff = (error: unknown) =>
  hasCode(error, 'ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED')

const brokenOff = (cause: unknown) =>
  new Refusal(
    'invalid',
    'The request broke off; ask how much has arrived, and continue from there',
    {
      code: 'upload.broken_off',
      cause,
    },
  )
