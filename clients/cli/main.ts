import { CommanderError } from 'commander'
import { exitCode, Failure } from './failure.ts'
import { toJson } from './harmless.ts'
import { createProgram } from './program.ts'
import { processTerminal } from './terminal.ts'

// forge.sh set it for this process, not for the command of `forge run`.
if (process.env.NODE_COMPILE_CACHE?.endsWith('/forge/compiled'))
  delete process.env.NODE_COMPILE_CACHE

/** Arguments after -- are the command of `forge run`. */
const ends = process.argv.indexOf('--')
const isJson = process.argv.slice(2, ends === -1 ? undefined : ends).includes('--json')
const terminal = processTerminal(process.env)

// `forge logs RUN | head` ends when head does, which is not an error.
process.stdout.on('error', error => {
  process.exit('code' in error && error.code === 'EPIPE' ? exitCode.ok : exitCode.unavailable)
})

const world = { terminal, env: process.env, nowMs: () => Date.now() }
const program = createProgram(world, code => {
  process.exitCode = code
})

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = sayFailure(error)
}
// Do not wait for timers and keep-alive connections.
process.exit()

function sayFailure(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.ok : exitCode.usage
  if (!(error instanceof Failure)) throw error
  if (isJson) {
    const content = { exit_code: error.exitCode, message: error.message, ...error.fields }
    terminal.note(toJson({ error: content }))
  } else {
    terminal.note(`${terminal.paintNote('red', 'error:')} ${error.message}`)
    for (const line of error.lines) terminal.note(`  ${line}`)
  }
  return error.exitCode
}
