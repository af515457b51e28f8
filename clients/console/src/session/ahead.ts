import { request } from './session.ts'

/** How long an answer waits for whoever is to show it, in milliseconds. */
const keptMs = 5_000

const begun = new Map<string, Promise<unknown>>()

/** Begins to read what a part of the page will show, while its code and what stands above it are still on their way. */
export function readAhead(path: string): void {
  if (begun.has(path)) return
  const answer = request('GET', path)
  begun.set(path, answer)
  // Whoever shows it asks again, and tells of the failure.
  answer.catch(() => {})
  setTimeout(() => begun.delete(path), keptMs)
}

/** The answer that was begun to be read, once; null: nobody has. */
export function takeAhead<T>(path: string): Promise<T> | null {
  const answer = begun.get(path)
  begun.delete(path)
  return (answer as Promise<T> | undefined) ?? null
}
