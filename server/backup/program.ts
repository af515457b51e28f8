import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Logger } from 'pino'
import { createLogger } from '../../platform/logger.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { systemClock } from '../../platform/time.ts'
import { openLog, topicsIn } from '../core.ts'
import { explain, openDatabase } from '../database/own-database.ts'
import { type Config, readConfig } from '../settings/config.ts'
import { drained } from './drain.ts'
import { type Made, makeBackup } from './make.ts'
import { type Progress, progressOn, sizeText } from './progress.ts'
import { BackupRefused } from './refused.ts'
import { type Restored, restoreBackup } from './restore.ts'
import { type Verified, verifyBackup } from './verify.ts'

/*
 * The program behind `forge admin backup DIR` and `forge admin restore DIR`, with the settings of the server. It needs
 * no token: it reads the files of the server. A backup works with or without a running server.
 */

const { version } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
)
/** Long enough for projections that are behind by minutes. */
const drainMs = 600_000

type Common = {
  config: Config
  folder: string
  logger: Logger
  progress: Progress
  signal: AbortSignal
}

type Options = { keep?: string; backup?: string; verify?: boolean; json?: boolean }
type Done = { made?: Made; restored?: Restored; verified?: Verified }

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      keep: { type: 'string' },
      backup: { type: 'string' },
      verify: { type: 'boolean' },
      json: { type: 'boolean' },
    },
  })
  const [command, folder = ''] = positionals
  const given = readConfig(process.env)
  const progress = progressOn(process.stderr, () => performance.now())
  const common = {
    config: { ...given, dataDir: resolve(given.dataDir) },
    folder: resolve(folder),
    logger: createLogger('fatal', false),
    progress,
    signal: interrupted(),
  }
  const done = await (command === 'restore' ? restore(common, values) : backUp(common, values))
  progress.end()
  process.stdout.write(values.json ? jsonOf(done) : textOf(done))
}

async function restore(common: Common, { backup, verify }: Options): Promise<Done> {
  const id = backup ?? null
  if (verify) return { verified: await verifyBackup({ ...common, id }) }
  return { restored: await restoreBackup({ ...common, id }) }
}

async function backUp(common: Common, { keep, verify }: Options): Promise<Done> {
  if (keep === '0')
    throw new BackupRefused('--keep 0 would delete this backup as well; keep at least 1.')
  const made = await make(common, keep === undefined ? null : Number(keep))
  if (!verify) return { made }
  return { made, verified: await verifyBackup({ ...common, id: made.id }) }
}

const jsonOf = ({ made, restored, verified }: Done) =>
  `${JSON.stringify({ ...made, ...restored, ...(verified && { verified }) })}\n`

const textOf = ({ made, restored, verified }: Done) =>
  lines(
    made && madeText(made),
    restored && restoredText(restored),
    verified && verifiedText(verified),
  )

async function make(common: Common, keep: number | null): Promise<Made> {
  const { config, logger, signal } = common
  const database = await openDatabase(config, logger)
  try {
    return await makeBackup({
      ...common,
      url: database.url,
      keep,
      version,
      now: systemClock,
      drained: () => drainedInto(database.url, config, signal),
    })
  } finally {
    await database.stop()
  }
}

async function drainedInto(url: string, config: Config, signal: AbortSignal): Promise<void> {
  if (config.kafkaBrokers.length === 0) return
  const topics = topicsIn(config)
  const log = await openLog(config, url, topics)
  const pool = createPool(url, { max: 1, applicationName: 'forge backup' })
  try {
    await drained({ log, topics, pool, signal, withinMs: drainMs })
  } finally {
    await pool.end()
    await log.close()
  }
}

/** Aborted by Ctrl-C and by SIGTERM; a second one ends the process at once. */
function interrupted(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => controller.abort(new BackupRefused('Interrupted.')))
  return controller.signal
}

const madeText = ({ id, folder, files, bytes, added_bytes, removed, left_out }: Made): string =>
  lines(
    `Backup ${id} is complete in ${folder}: ${files} files, ${sizeText(bytes)}, of which ${sizeText(added_bytes)} are new.`,
    removed.length > 0 && `Deleted older backups: ${removed.join(', ')}.`,
    left_out > 0 && `${left_out} files of runs could not be read and were left out.`,
  )

const restoredText = ({ id, data_dir, files, bytes }: Restored): string =>
  lines(
    `Restored backup ${id} into ${data_dir}: ${files} files, ${sizeText(bytes)}.`,
    'Start the server with this SERVICE_DATA_DIR.',
  )

const verifiedText = (verified: Verified): string => {
  const { id, files, bytes, tables, rows, events, series, points } = verified
  return lines(
    `Backup ${id} is sound: ${files} files, ${sizeText(bytes)}.`,
    tables === null
      ? 'Rows were not compared: the database was never at rest when the backup was made.'
      : `${rows} rows in ${tables} tables, as in the original.`,
    `${events} events of the audit verified; ${series} metric series with ${points} points read.`,
  )
}

/** Texts of one or more lines, each line ended. */
const lines = (...texts: (string | false | undefined)[]): string =>
  texts
    .filter(text => typeof text === 'string')
    .map(text => (text.endsWith('\n') ? text : `${text}\n`))
    .join('')

try {
  await main()
} catch (error) {
  process.stderr.write(`${process.stderr.isTTY ? '\r\x1b[K' : ''}${explain(error)}\n`)
  process.exitCode = 1
}
