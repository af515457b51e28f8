import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { migrationSets } from '../../server/database/migrations.ts'
import { eventVersions, fixtureNames, unpack } from '../upgrade/fixture.ts'

type Recorded = { migrations: Map<string, string>; events: Set<string> }

/** The migrations in all fixtures, with their text, and the versions of events. */
async function recorded(): Promise<Recorded> {
  const all: Recorded = { migrations: new Map(), events: new Set() }
  for (const name of await fixtureNames()) {
    const { folder, fixture, remove } = await unpack(name)
    for (const migration of fixture.migrations)
      all.migrations.set(
        migration,
        await readFile(join(folder, 'migrations', `${migration}.sql`), 'utf8'),
      )
    for (const [type, version] of Object.entries(fixture.events))
      all.events.add(`${type} ${version}`)
    await remove()
  }
  return all
}

/** The migrations of this version, with their text. */
async function present(): Promise<Map<string, string>> {
  const all = new Map<string, string>()
  for (const { schema, folder } of migrationSets)
    for (const file of await readdir(folder))
      all.set(`${schema}/${file.replace('.sql', '')}`, readFileSync(join(folder, file), 'utf8'))
  return all
}

const advice =
  'npm run record-upgrade -- <what-changed> adds a fixture of this version: see docs/contribute/migrations.md'

test('every version that changed a schema or an event has a fixture for the test of upgrades', async t => {
  const { migrations, events } = await recorded()
  const now = await present()
  t.true(now.size >= 25)
  t.deepEqual(
    [...now.keys()].filter(name => !migrations.has(name)),
    [],
    advice,
  )
  const versions = Object.entries(eventVersions()).map(([type, version]) => `${type} ${version}`)
  t.true(versions.length >= 50)
  t.deepEqual(
    versions.filter(version => !events.has(version)),
    [],
    advice,
  )
})

test('a migration in a fixture is never edited', async t => {
  const { migrations } = await recorded()
  const now = await present()
  t.deepEqual(
    [...now]
      .filter(([name, text]) => (migrations.get(name) ?? text) !== text)
      .map(([name]) => name),
    [],
    'write another migration; or, if no other branch has this one yet, delete its fixture and record it again',
  )
})
