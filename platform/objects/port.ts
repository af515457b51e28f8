import type { Readable } from 'node:stream'
import type { Range } from '../http/range.ts'

/** A copy of what arrived that no request can write to any more; `name` is the store's own. */
export type Sealed = { name: string; size: number; sha256: string }

/**
 * Keeps files. They arrive in pieces under an id, are sealed, and then kept under their SHA-256 (hex), each content once.
 * What these functions wrote stays after a crash. While the store is away they throw the refusal `unavailable`, which
 * loses nothing that was here; `null` always means that there is no such file.
 */
export type ObjectStore = {
  /** How many bytes are here of what arrives under an id. */
  received(id: string): Promise<number>
  /**
   * Writes what a request sends, from this byte on, and drops what was behind it; returns how many bytes are here then. A
   * newer request of the same id ends an older one of this process, whose connection may have died unnoticed. What arrived
   * before a connection broke stays.
   */
  receive(id: string, start: number, body: Readable): Promise<number>
  /** Reads what arrived, from its first byte on; null if nothing did. */
  arrived(id: string): Promise<Readable | null>
  /** The SHA-256 of what arrived. */
  digestOf(id: string): Promise<string>
  /** Copies what arrived. Null if nothing did; a file of no bytes arrives by an empty request. */
  seal(id: string): Promise<Sealed | null>
  /** Gives a sealed copy its lasting name; may be repeated, and whoever has the same content already keeps it. */
  keep(sealed: Sealed): Promise<void>
  /** No-op for a copy that was kept. */
  discard(sealed: Sealed): Promise<void>
  removePart(id: string): Promise<void>
  /** Bytes of what was kept under a digest. */
  sizeOf(sha256: string): Promise<number | null>
  /** Reads what was kept under a digest, or a range of it. */
  read(sha256: string, range: Range | null, signal?: AbortSignal): Promise<Readable | null>
  removeContent(sha256: string): Promise<void>
  /** Everything that is here: ids of what is arriving, and digests of what was kept. */
  list(): Promise<{ parts: string[]; contents: string[] }>
  /** Removes sealed copies that a crash left behind before this time. */
  removeDebris(before: Date): Promise<void>
}
