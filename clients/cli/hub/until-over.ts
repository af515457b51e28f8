import { pause } from '../program/pause.ts'
import type { Session } from '../program/session.ts'

const everyMs = 1000

/** Follows something that is under way, however long it takes; Ctrl-C ends the waiting, not the work. */
export async function untilOver<T extends { state: string }>(
  { api, terminal }: Session,
  path: string,
  { isOver, line }: { isOver: (found: T) => boolean; line: (found: T) => string },
): Promise<T> {
  let told = ''
  for (;;) {
    const found = await api.get<T>(path)
    if (isOver(found)) return found
    const now = line(found)
    if (now !== told) terminal.note(now)
    told = now
    await pause(everyMs, new AbortController().signal)
  }
}
