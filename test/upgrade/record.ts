import { chmod, cp, mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createPool } from '../../platform/postgres/pool.ts'
import { type Prepared, prepareSamples } from '../samples/prepare.ts'
import { type Databases, databasesAt } from '../servers/databases.ts'
import { copiedVariable } from '../servers/hosted.ts'
import { makeInstallation } from '../servers/installation.ts'
import { startCopyAt, startPostgres } from '../servers/postgres-server.ts'
import { type Answers, common, lacking } from './answers.ts'
import {
  eventVersions,
  fixtureNames,
  pack,
  saveMigrations,
  saveTables,
  type Unpacked,
  unpack,
} from './fixture.ts'
import { answersAt, type Restored, restored } from './start.ts'

// `npm run record-upgrade -- <what-changed>` adds a fixture of what this version stores and responds; with `--answers` it
// records again what this version responds about all fixtures (docs/contribute/migrations.md).
const name = process.argv[2] ?? ''
if (!/^[a-z0-9-]+$/.test(name)) {
  process.stderr.write('usage: npm run record-upgrade -- <what-changed> | --answers\n')
  process.exit(2)
}

/** Files of the data directory that a server makes again. */
const remade = ['reserve', 'console']
/** What depends on the time differs after this. */
const laterMs = 90_000

const folder = await mkdtemp(join(tmpdir(), 'forge-test-record-'))
// For the user that PostgreSQL runs as.
await chmod(folder, 0o755)
try {
  if (name === '--answers') await recordAnswers()
  else await recordSamples()
} finally {
  await rm(folder, { recursive: true, force: true })
}
// The engine of the samples would keep the process running.
process.exit(0)

async function inside(part: string): Promise<string> {
  await mkdir(join(folder, part))
  return join(folder, part)
}

async function recordSamples(): Promise<void> {
  const installation = await makeInstallation(await inside('installation'))
  process.env[copiedVariable] = installation.address
  const hosted = await prepareSamples(await inside('samples'))
  const prepared: Prepared = JSON.parse(hosted.address)
  const server = await startCopyAt(join(folder, 'postgres'), prepared.postgres)
  const databases = databasesAt(server.address)
  await record(prepared, databases)
  await databases.end()
  await server.stop()
  await hosted.stop()
  await installation.stop()
}

async function record(prepared: Prepared, databases: Databases): Promise<void> {
  const { template, dataDir, people, made } = prepared
  const recordedAt = new Date().toISOString()
  const unpacked = await inside('unpacked')
  const { url: databaseUrl } = await databases.copyOf(template)
  const pool = createPool(databaseUrl, { max: 2, applicationName: 'forge test record' })
  const saved: Unpacked = {
    folder: unpacked,
    fixture: {
      recordedAt,
      migrations: await saveMigrations(unpacked),
      events: eventVersions(),
      samples: { people, made },
      ...(await saveTables(pool, unpacked)),
      answers: {},
    },
  }
  await pool.end()
  await cp(dataDir, join(unpacked, 'data'), {
    recursive: true,
    filter: source => !remade.includes(basename(source)),
  })
  const answers = await answersAt({ databaseUrl, dataDir, recordedAt }, saved.fixture)
  const number = String((await fixtureNames()).length + 1).padStart(4, '0')
  await packWith(`${number}-${name}`, { saved, answers, databases })
}

async function recordAnswers(): Promise<void> {
  const server = await startPostgres(await inside('postgres'))
  const databases = databasesAt(server.address)
  for (const fixture of await fixtureNames()) {
    const saved = await unpack(fixture)
    const answers = await answersAt(await place(fixture, saved, databases), saved.fixture)
    await packWith(fixture, { saved, answers, databases })
    await saved.remove()
  }
  await databases.end()
  await server.stop()
}

async function place(part: string, saved: Unpacked, databases: Databases): Promise<Restored> {
  const { url: databaseUrl } = await databases.copyOf('template1')
  return restored(saved, { databaseUrl, dataDir: await inside(part) })
}

type Packing = { saved: Unpacked; answers: Answers; databases: Databases }

/** Keeps what a second server, on the restored fixture and somewhat later, responds in the same way. */
async function packWith(fixture: string, { saved, answers, databases }: Packing): Promise<void> {
  const again = await answersAt(
    await place(`${fixture}-again`, saved, databases),
    saved.fixture,
    laterMs,
  )
  const kept = common(answers, again) as Answers
  const file = await pack(fixture, { ...saved, fixture: { ...saved.fixture, answers: kept } })
  const size = Math.ceil((await stat(file)).size / 1024)
  process.stdout.write(
    `Not compared, because it varies:\n${lacking(answers, again).join('\n')}\n${file}: ${size} KiB\n`,
  )
}
