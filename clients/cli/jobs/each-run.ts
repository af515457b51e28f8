import { type ExitCode, exitCode, Failure } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type Session, type World } from '../program/session.ts'

/**
 * Does something with several runs at once. Each is tried; the failure lists the runs that were not `done`, with the exit code
 * of the first.
 */
export async function eachRun(
  ids: readonly string[],
  done: string,
  act: (id: string) => Promise<void>,
): Promise<ExitCode> {
  const ended = await Promise.allSettled(ids.map(act))
  const failures = ended.flatMap(each => (each.status === 'rejected' ? [each.reason] : []))
  const [first] = failures
  if (first === undefined) return exitCode.ok
  if (!(first instanceof Failure) || ids.length === 1) throw first
  throw new Failure(first.exitCode, `${failures.length} of ${ids.length} were not ${done}`, {
    lines: ended.flatMap((each, at) =>
      each.status === 'rejected' ? [`${ids[at]}: ${reasonOf(each.reason)}`] : [],
    ),
    fields: first.fields,
  })
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** A command that acts on several runs. `begin` checks the options, before the first request. */
export const actingOnRuns =
  <Options extends CommonOptions>(
    done: string,
    begin: (session: Session, options: Options) => (id: string) => Promise<void>,
  ) =>
  async (world: World, ids: readonly string[], options: Options): Promise<ExitCode> => {
    const session = await openSignedIn(world, options)
    return eachRun(ids, done, begin(session, options))
  }
