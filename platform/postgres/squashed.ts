import { type ClientBase, escapeIdentifier } from 'pg'
import { CannotStart } from '../cannot-start.ts'
import { catalogOf } from './catalog.ts'
import { createSchema, type Migration, record, runIn } from './migration.ts'
import { inTransactionOn } from './transaction.ts'

/** Migrations that were replaced by fewer ones with the same result. */
export type Squashed = {
  /** The versions replaced. No file has one of these numbers. */
  replaced: readonly number[]
  /** The last file that replaces them; those up to it are the base. */
  upTo: number
  /** The files of the base that add something, and so are also applied to a schema that the replaced ones made. */
  added: readonly number[]
  /** The last version of the program with all of the replaced ones. */
  program: string
}

type Adoption = {
  schema: string
  squashed: Squashed
  migrations: readonly Migration[]
  applied: ReadonlySet<number>
}

/** Where the base is made for comparison, and dropped again in the same transaction. */
const beside = 'forge_base'
/** How many differences the message shows. */
const shown = 5

/**
 * Records the base as applied in a schema made by all of the migrations that it replaces, and returns its versions.
 * Throws `CannotStart` and changes nothing if some were never applied, or if the schema is not what the base makes.
 */
export function adopt(client: ClientBase, adoption: Adoption): Promise<number[]> {
  const { schema, squashed, migrations, applied } = adoption
  const missing = squashed.replaced.filter(version => !applied.has(version))
  if (missing.length > 0)
    throw new CannotStart(
      `Schema "${schema}" of the database lacks migration ${missing[0]} of an earlier version, which this program no longer has. Start ${squashed.program} on it once, which completes its migrations, and then this program.`,
    )
  const base = migrations.filter(({ version }) => version <= squashed.upTo)
  return inTransactionOn(client, async () => {
    for (const migration of base)
      if (squashed.added.includes(migration.version)) await runIn(client, schema, migration)
    await refuseOther(client, schema, base)
    await client.query(
      `delete from ${escapeIdentifier(schema)}.migration where version = any($1)`,
      [squashed.replaced],
    )
    for (const migration of base) await record(client, schema, migration)
    return base.map(({ version }) => version)
  })
}

/** Compares with what the base makes on this very server, because versions of PostgreSQL word definitions differently. */
async function refuseOther(
  client: ClientBase,
  schema: string,
  base: readonly Migration[],
): Promise<void> {
  await createSchema(client, beside)
  for (const migration of base) await runIn(client, beside, migration)
  const expected = await catalogOf(client, beside)
  await client.query(`set local search_path = ''`)
  await client.query(`set local client_min_messages = warning`)
  await client.query(`drop schema ${beside} cascade`)
  const present = new Set(await catalogOf(client, schema))
  const lacking = expected
    .map(line => line.replaceAll(beside, schema))
    .filter(line => !present.has(line))
  if (lacking.length > 0)
    throw new CannotStart(
      `Schema "${schema}" of the database is not what its migrations make. It lacks:\n${lacking.slice(0, shown).join('\n')}\nRestore a backup, or restore what is missing.`,
    )
}
