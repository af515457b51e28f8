import { createLogger } from '../../../platform/logger.ts'
import { startEmbeddedPostgres } from '../../../platform/postgres/embedded.ts'

// A process to be killed: embeds the server of a directory until its standard input closes.
const [directory = ''] = process.argv.slice(2)
const server = await startEmbeddedPostgres({ directory, logger: createLogger('silent', false) })
process.stdout.write(`${server.url}\n`)
process.stdin.resume().once('end', async () => {
  await server.stop()
  process.exit(0)
})
