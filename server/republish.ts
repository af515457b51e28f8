import { parseArgs } from 'node:util'
import type { Pool, PoolClient } from 'pg'
import { followNewLog, publishAgain } from '../command-api/relay/publish-again.ts'
import { CannotStart } from '../platform/cannot-start.ts'
import { createLogger } from '../platform/logger.ts'
import { createPool } from '../platform/postgres/pool.ts'
import { inTransaction } from '../platform/postgres/transaction.ts'
import { projections } from '../projector/compose.ts'
import { beginNewLog, readAgain } from '../projector/new-log.ts'
import { topicsIn } from './core.ts'
import { explain, openDatabase } from './database/own-database.ts'
import { readConfig } from './settings/config.ts'

/*
 * The program behind `forge admin republish [--new-log]`, with the settings of the server: after Kafka has lost its topics, or an
 * older database was restored.
 */

async function main(): Promise<void> {
  const config = readConfig(process.env)
  if (config.kafkaBrokers.length === 0)
    throw new CannotStart(
      'Without SERVICE_KAFKA_BROKERS the log is in the database, and always fits it.',
    )
  const { values } = parseArgs({ options: { 'new-log': { type: 'boolean', default: false } } })
  const isNew = values['new-log']
  const topics = topicsIn(config)
  const database = await openDatabase(config, createLogger('fatal', false))
  const pool = createPool(database.url, { max: 1, applicationName: 'forge-republish' })
  try {
    await refuseIfUsed(pool)
    const givenUp = await inTransaction(pool, async (tx: PoolClient) => {
      await publishAgain(tx, topics.decisions.name)
      await readAgain(tx, topics.decisions.name)
      if (!isNew) return 0
      await followNewLog(tx)
      return beginNewLog(tx, projections(topics))
    })
    process.stdout.write(
      `The next start publishes all decisions${isNew ? ', and reads every topic from its beginning' : ''}.\n`,
    )
    if (givenUp > 0)
      process.stdout.write(
        `${givenUp} dead letters, whose records the earlier log held, are gone.\n`,
      )
  } finally {
    await pool.end()
    await database.stop()
  }
}

/** A server at work would continue where it was. */
async function refuseIfUsed(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ others: number }>(
    `select count(*)::int as others from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and (application_name ~ '^forge ' or usename ~ '^forge_')`,
  )
  if ((rows[0]?.others ?? 0) > 0)
    throw new CannotStart('Servers are at work on this database; stop all of them first.')
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${explain(error)}\n`)
  process.exitCode = 1
}
