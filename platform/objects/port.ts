import type { Readable } from 'node:stream'
import type { Range } from '../http/range.ts'

/** A copy of an upload that no request can write to any longer; `name` is the store's own. */
export type Sealed = { name: string; size: number; sha256: string }

/**
 * Stores files. They arrive in pieces under an upload id, are sealed, and are then kept under their SHA-256 (hex),
 * each content once. Writes survive a crash. While the store is unavailable, all functions throw the refusal
 * `unavailable` and lose nothing; `null` always means that there is no such file.
 */
export type ObjectStore = {
  /** How many bytes have arrived under an upload id. */
  received(id: string): Promise<number>
  /**
   * Writes a request's body from this offset on, dropping any bytes after the offset; returns how many bytes have
   * arrived in all. A newer request for the same id ends an older one in this process, whose connection may have died
   * unnoticed. Bytes that arrived before a connection broke are kept.
   */
  receive(id: string, start: number, body: Readable): Promise<number>
  /** Reads the arrived bytes from the beginning; null if there are none. */
  arrived(id: string): Promise<Readable | null>
  /** The SHA-256 of the arrived bytes. */
  digestOf(id: string): Promise<string>
  /** Copies the arrived bytes. Null if nothing arrived; an empty file arrives by an empty request. */
  seal(id: string): Promise<Sealed | null>
  /** Gives a sealed copy its permanent name. Idempotent; content that is already kept stays. */
  keep(sealed: Sealed): Promise<void>
  /** No-op for a copy that was kept. */
  discard(sealed: Sealed): Promise<void>
  removePart(id: string): Promise<void>
  /** Size of the content kept under a digest. */
  sizeOf(sha256: string): Promise<number | null>
  /** Reads the content kept under a digest, or a range of it. */
  read(sha256: string, range: Range | null, signal?: AbortSignal): Promise<Readable | null>
  removeContent(sha256: string): Promise<void>
  /** Everything in the store: the ids of arriving uploads and the digests of kept content. */
  list(): Promise<{ parts: string[]; contents: string[] }>
  /** Removes sealed copies that a crash left behind before this time. */
  removeDebris(before: Date): Promise<void>
}
