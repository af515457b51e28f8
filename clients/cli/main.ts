import { writeWholly } from './program/output.ts'
import { runProgram } from './program/run-program.ts'
import { worldOf } from './program/session.ts'

// forge.sh set it for this process, not for the command of `forge run`.
if (process.env.NODE_COMPILE_CACHE?.endsWith('/forge/compiled'))
  delete process.env.NODE_COMPILE_CACHE

writeWholly(process.stdout, 1)
writeWholly(process.stderr, 2)

// Do not wait for timers and keep-alive connections.
process.exit(await runProgram(worldOf(process), process.argv.slice(2)))
