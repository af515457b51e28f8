import { flushCompileCache } from 'node:module'
import { startDuties } from '../../command-api/duties/runner.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { silent, storeWith } from './duty-store.ts'
import { receivingReactors } from './receiving-reactors.ts'

/**
 * Acts as a server that will be killed: `duty-worker.ts DATABASE RECEIVER [before|after]`. With the last argument it
 * kills itself before or after its first effect.
 */
const [, , database = '', receiver = '', dies] = process.argv
const die = (when: string) => () => {
  if (dies === when) process.kill(process.pid, 'SIGKILL')
}
const pool = createPool(database, { max: 4, applicationName: 'duty worker' })
const reactors = receivingReactors(receiver, { before: die('before'), after: die('after') })
startDuties<null>({
  pool,
  store: storeWith(pool, reactors),
  reactors,
  work: null,
  now: () => new Date(),
  random: Math.random,
  logger: silent,
  pollMs: 50,
})
// Saves the compile cache now for its successors, because the kill prevents that at its end.
flushCompileCache()
