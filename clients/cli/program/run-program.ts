import { CommanderError } from 'commander'
import { toJson } from '../terminal/harmless.ts'
import { exitCode, Failure, Interrupted } from './failure.ts'
import { exitCodeOfSignal } from './output.ts'
import { createProgram } from './program.ts'
import type { World } from './session.ts'

/**
 * Runs the command that the arguments name; resolves to the exit code once everything it printed has been passed on. Throws
 * only for bugs. When nobody reads stdout any more, it resolves while the command may still be at work.
 */
export async function runProgram(world: World, args: readonly string[]): Promise<number> {
  const { printing } = world
  const brokenOff = printing.broken.then(() => exitCode.ok)
  const code = await Promise.race([brokenOff, runCommand(world, args)])
  const { fault, signal } = await printing.end()
  if (signal) return exitCodeOfSignal(signal)
  if (!fault) return code
  const failure = new Failure(exitCode.unwritten, `The output is not whole: ${fault.message}`)
  sayFailure(world, failure, wantsJson(args))
  return code === exitCode.ok ? failure.exitCode : code
}

async function runCommand(world: World, args: readonly string[]): Promise<number> {
  let code: number = exitCode.ok
  const program = createProgram(world, ended => {
    code = ended
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.ok : exitCode.usage
    if (error instanceof Interrupted) return exitCode.interrupted
    if (!(error instanceof Failure)) throw error
    sayFailure(world, error, wantsJson(args))
    return error.exitCode
  }
}

/** Arguments after -- are the command of `forge run`. */
function wantsJson(args: readonly string[]): boolean {
  const ends = args.indexOf('--')
  return args.slice(0, ends === -1 ? undefined : ends).includes('--json')
}

function sayFailure({ terminal }: World, failure: Failure, isJson: boolean): void {
  const { message, lines, fields } = failure
  if (isJson) {
    const content = { exit_code: failure.exitCode, message, ...fields }
    terminal.note(toJson({ error: content }))
    return
  }
  terminal.note(`${terminal.paintNote('red', 'error:')} ${message}`)
  for (const line of lines) terminal.note(`  ${line}`)
}
