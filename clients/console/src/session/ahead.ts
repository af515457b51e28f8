import { request } from './session.ts'

/** How long a response is kept for the component that shows it, in milliseconds. */
const keptMs = 5_000

const begun = new Map<string, Promise<unknown>>()

/** Begins to read the data of a part of the page while its code and the parts above it are still loading. */
export function readAhead(path: string): void {
  if (begun.has(path)) return
  const answer = request('GET', path)
  begun.set(path, answer)
  // The component that shows it asks again, and reports the failure.
  answer.catch(() => {})
  setTimeout(() => begun.delete(path), keptMs)
}

/** The response that was requested ahead, once; null: nobody requested it. */
export function takeAhead<T>(path: string): Promise<T> | null {
  const answer = begun.get(path)
  begun.delete(path)
  return (answer as Promise<T> | undefined) ?? null
}
