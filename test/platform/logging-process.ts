import { setImmediate } from 'node:timers/promises'
import { createLogger } from '../../platform/logger.ts'

// Logs as many lines as the argument says, and reports each step on standard error.
const logger = createLogger('info', false)
for (let line = 1; line <= Number(process.argv[2]); line++) {
  logger.info({ line }, 'a line')
  if (line % 10 === 0) await setImmediate()
}
process.stderr.write('logged\n')
setTimeout(() => {
  logger.info('the last line')
  process.stderr.write('still here\n')
  process.exit(7)
}, 100)
