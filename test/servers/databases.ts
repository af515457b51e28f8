import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Pool } from 'pg'
import { locks } from '../../platform/postgres/locks.ts'
import { migrate } from '../../platform/postgres/migrate.ts'
import { withLock } from '../../platform/postgres/with-lock.ts'
import { migrationSets } from '../../server/database/migrations.ts'
import { prepareRights } from '../../server/database/rights.ts'

const templateWaitMs = 120_000

/** Creates databases as copies of templates, which takes a fraction of migrating them. */
export type Databases = {
  /** A new database, copied from a template that nobody uses. */
  copyOf(template: string): Promise<{ name: string; url: string }>
  drop(name: string): Promise<void>
  /** The name of the template with all schemas and no rows. */
  emptyTemplate(): Promise<string>
  end(): Promise<void>
  /** Creates the template of this name if it is missing: a copy of `from`, changed by `fill`. */
  makeTemplate(name: string, from: string, fill: (url: string) => Promise<void>): Promise<void>
}

/** The databases of the PostgreSQL at `server`. Their connections do not keep a process alive. */
export function databasesAt(server: string): Databases {
  const administrators = new Pool({
    connectionString: inDatabase(server, 'postgres'),
    application_name: 'forge test',
    max: 2,
    allowExitOnIdle: true,
  })
  // `end` resolves before the sockets are closed, and a server that stops then still reports that it ends them.
  administrators.on('error', () => {})
  const databases: Databases = {
    async copyOf(template) {
      const name = `test_${randomBytes(8).toString('hex')}`
      await administrators.query(`create database ${name} template ${template} strategy file_copy`)
      return { name, url: inDatabase(server, name) }
    },
    async drop(name) {
      await administrators.query(`drop database if exists ${name} with (force)`)
    },
    end: () => administrators.end(),
    async emptyTemplate() {
      const name = await templateName()
      await databases.makeTemplate(name, 'template1', prepareTemplate)
      return name
    },
    async makeTemplate(name, from, fill) {
      const lock = { lock: locks.testTemplate, waitMs: templateWaitMs }
      await withLock(administrators, lock, async client => {
        const sql = 'select 1 from pg_database where datname = $1'
        if ((await client.query(sql, [name])).rowCount) return
        // It is renamed when it is complete.
        const draft = `${name}_draft`
        await client.query(`drop database if exists ${draft} with (force)`)
        await client.query(`create database ${draft} template ${from}`)
        await fill(inDatabase(server, draft))
        await client.query(`alter database ${draft} rename to ${name}`)
      })
    },
  }
  return databases
}

/** Changes with the migrations, so that a server that keeps running picks up edited ones. */
async function templateName(): Promise<string> {
  const hash = createHash('sha256')
  for (const { schema, folder } of migrationSets)
    for (const file of (await readdir(folder)).sort())
      hash.update(`${schema}/${file}\n`).update(await readFile(join(folder, file)))
  hash.update(await readFile(new URL('../../server/database/rights.ts', import.meta.url)))
  return `template_${hash.digest('hex').slice(0, 16)}`
}

/** With the roles and grants of a server, which finds nothing left to do at its start. */
async function prepareTemplate(url: string): Promise<void> {
  await migrate(url, migrationSets)
  await prepareRights(url)
}

function inDatabase(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.toString()
}
