/** The parts of a notification that name its subject. */
type About = { kind: string; title: string; target: { type: string; id: string } | null }

/** A mute: `kind:job_failed`, `run:run_01…`, `project:vision`. */
export type Muted = readonly string[]

const isAboutRun = ({ target }: About): boolean =>
  target !== null && ['run', 'job'].includes(target.type)

/** The project of the run with whose short id a title begins. */
const projectOf = ({ title }: About): string | null => /^(.+)-\d+[: ]/.exec(title)?.[1] ?? null

/** What can be muted about a notification. */
export function mutableOf(about: About): { kind: string; run?: string; project?: string } {
  const project = isAboutRun(about) ? projectOf(about) : null
  return {
    kind: `kind:${about.kind}`,
    ...(isAboutRun(about) && { run: `run:${about.target?.id}` }),
    ...(project !== null && { project: `project:${project}` }),
  }
}

export const isMuted = (about: About, muted: Muted): boolean =>
  Object.values(mutableOf(about)).some(one => muted.includes(one))
