import { createLogger } from '../../platform/logger.ts'

// Logs as many lines as the argument says, reports each step on standard error, and ends when its standard input does.
const logger = createLogger('info', false)
for (let line = 1; line <= Number(process.argv[2]); line++) {
  logger.info({ line }, 'a line')
  if (line % 10 === 0) await new Promise(setImmediate)
}
process.stderr.write('logged\n')
process.stdin.resume().once('end', () => {
  logger.info('the last line')
  process.stderr.write('still here\n')
  process.exit(7)
})
