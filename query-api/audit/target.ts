/** The resource that an event is about. */
export type Target = { type: string; id: string }

/** A stream is named after its target, `job-run_01J…` for `job:run_01J…`; names of kinds contain no hyphen. */
export function targetOf(stream: string): Target {
  const hyphen = stream.indexOf('-')
  return { type: stream.slice(0, hyphen), id: stream.slice(hyphen + 1) }
}

/** `target` as clients write it, with a colon. */
export const streamOf = (target: string): string => target.replace(':', '-')
