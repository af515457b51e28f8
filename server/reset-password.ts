import { writeSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { oidcOf } from '../auth/oidc-settings.ts'
import { createPasswords } from '../auth/passwords.ts'
import { raiseEpoch } from '../command-api/commit/commit-epoch.ts'
import { hasSecondFactor } from '../command-api/rules/second-factors.ts'
import { removeSecondFactors } from '../command-api/second-factors/remove.ts'
import { hostCause, resetOnHost } from '../command-api/users/reset-on-host.ts'
import { CannotStart } from '../platform/cannot-start.ts'
import { createLogger } from '../platform/logger.ts'
import { createPool } from '../platform/postgres/pool.ts'
import { systemClock } from '../platform/time.ts'
import { explain, openDatabase } from './database/own-database.ts'
import { openEventStore } from './roles/write-side.ts'
import { type Config, readConfig } from './settings/config.ts'

/*
 * The program behind `forge admin reset-password [USERNAME] [--remove-second-factor]`. It needs no token: anybody who can read the database
 * password owns the installation. It works with or without a running server.
 */

async function main(): Promise<void> {
  const config = readConfig(process.env)
  const provider = oidcOf(config)
  if (provider) throw new CannotStart(`People sign in with ${provider.name} and have no passwords.`)
  const { values, positionals } = parseArgs({
    options: { 'remove-second-factor': { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const username = positionals[0] ?? config.initAdminUsername
  const logger = createLogger('fatal', false)
  const database = await openDatabase(config, logger)
  try {
    const asked = { username, removesFactor: values['remove-second-factor'] }
    const { password, hasFactor } = await reset({ config, logger, url: database.url }, asked)
    process.stderr.write(
      `The new password of ${username}; their sessions have ended. It is shown only now, and signs in for 24 hours, to be replaced:\n`,
    )
    print(password, username)
    if (hasFactor) process.stderr.write(stillNeedsCode(username))
  } finally {
    await database.stop()
  }
}

/** A password that nobody can read is worse than none: the old one no longer works. */
function print(password: string, username: string): void {
  try {
    // Unlike a stream, this reports a full disk and a reader that closed its end.
    if (writeSync(1, `${password}\n`) <= password.length) throw new Error('the write was cut short')
  } catch (error) {
    throw new CannotStart(
      `The password of ${username} was changed, but the new one could not be printed (${(error as Error).message}); run this command again.`,
    )
  }
}

type On = { config: Config; logger: Logger; url: string }

type Asked = { username: string; removesFactor: boolean }
/** `hasFactor`: signing in takes a code besides the new password. */
type Reset = { password: string; hasFactor: boolean }

async function reset(
  { config, logger, url }: On,
  { username, removesFactor }: Asked,
): Promise<Reset> {
  const pool = createPool(url, { max: 2, applicationName: 'forge reset-password' })
  try {
    await refuseUnlessInstalled(pool, username)
    // Before the first write after a restore, as at the start of a server.
    await raiseEpoch(pool, logger)
    const store = openEventStore({ pool, config }, { committed: () => {} })
    const deps = { store, now: systemClock }
    const password = await resetOnHost(deps, await createPasswords(), username)
    const hasFactor = await hasSecondFactor(pool, username)
    if (!hasFactor || !removesFactor) return { password, hasFactor }
    await removeSecondFactors(deps, hostCause, username)
    process.stderr.write(`The second factor of ${username} is removed.\n`)
    return { password, hasFactor: false }
  } finally {
    await pool.end()
  }
}

const stillNeedsCode = (username: string) =>
  `Signing in as ${username} also takes a code; if the authenticator and the recovery codes are lost, add --remove-second-factor.\n`

/** Lists the existing accounts, because the name may only be mistyped. */
async function refuseUnlessInstalled(pool: Pool, username: string): Promise<void> {
  const { rows: found } = await pool.query(`select to_regclass('auth.person') is not null as there`)
  if (!found[0]?.there)
    throw new CannotStart('This database holds no installation of Forge; start the server first.')
  const { rows } = await pool.query<{ username: string }>(
    `select username from auth.person where not disabled and password_hash is not null
      order by username <> $1, role, created_at limit 10`,
    [username],
  )
  if (rows[0]?.username === username) return
  const names = rows.map(row => row.username).join(', ') || 'nobody'
  throw new CannotStart(
    `${username} does not sign in here with a password; these people do: ${names}.`,
  )
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${explain(error)}\n`)
  process.exitCode = 1
}
