import { exitCode } from './program/failure.ts'
import { runProgram } from './program/run-program.ts'
import { worldOf } from './program/session.ts'

// forge.sh set it for this process, not for the command of `forge run`.
if (process.env.NODE_COMPILE_CACHE?.endsWith('/forge/compiled'))
  delete process.env.NODE_COMPILE_CACHE

// `forge logs RUN | head` ends when head does, which is not an error.
process.stdout.on('error', error => {
  process.exit('code' in error && error.code === 'EPIPE' ? exitCode.ok : exitCode.unavailable)
})

// Do not wait for timers and keep-alive connections.
process.exit(await runProgram(worldOf(process), process.argv.slice(2)))
