import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cp, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

export const ownFile = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** Holds downloads that checkouts share (`FORGE_CACHE_DIR`, default `~/.cache/forge`). */
export const cacheFolder = (): string =>
  process.env.FORGE_CACHE_DIR ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'forge')

/** Kafka is not available on this machine; the message says what is missing and how to install it. */
export class KafkaMissing extends Error {}

/** The folder with the broker's jars, downloaded by Maven the first time. */
export async function fetchJars(): Promise<string> {
  await needJava()
  const folder = await versionFolder()
  return await makeOnce(join(folder, 'lib'), async draft => {
    await needMaven()
    await run('mvn', [
      '--batch-mode',
      '--quiet',
      `--file=${ownFile('pom.xml')}`,
      `-Dlib.dir=${draft}`,
      'dependency:copy-dependencies',
    ]).catch(cause => {
      throw new KafkaMissing(`Maven could not fetch Kafka's jars: ${saidBy(cause)}`, { cause })
    })
  })
}

/** Creates the data of a new broker. Formatted once and then copied, because each Java start costs 1.5 s. */
export async function formatData(jars: string, dataFolder: string): Promise<void> {
  const formatted = await makeOnce(join(await versionFolder(), 'formatted'), async draft => {
    const properties = `${draft}.properties`
    await writeFile(
      properties,
      await propertiesOf({ dataFolder: draft, port: 1, controllerPort: 2 }),
    )
    const id = randomUUID().replaceAll('-', '').slice(0, 22)
    const tool = ['kafka.tools.StorageTool', 'format', '-t', id, '-c', properties]
    await run('java', ['-cp', `${jars}/*`, ...tool])
    await rm(properties)
  })
  await cp(formatted, dataFolder, { recursive: true })
}

export type Node = {
  dataFolder: string
  port: number
  controllerPort: number
  /** Default: `port`. */
  advertisedPort?: number | undefined
}

export async function propertiesOf(node: Node): Promise<string> {
  const { dataFolder, port, controllerPort, advertisedPort = port } = node
  const base = await readFile(ownFile('server.properties'), 'utf8')
  return `${base}
controller.quorum.voters=1@127.0.0.1:${controllerPort}
listeners=BROKER://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}
advertised.listeners=BROKER://127.0.0.1:${advertisedPort}
log.dirs=${dataFolder}
`
}

async function versionFolder(): Promise<string> {
  const version = /<kafka.version>(.*)<\/kafka.version>/.exec(
    await readFile(ownFile('pom.xml'), 'utf8'),
  )?.[1]
  return join(cacheFolder(), 'kafka', version ?? 'unknown')
}

/** Creates `path`, which gets its name only when complete; of two concurrent creations one is discarded. */
async function makeOnce(path: string, make: (draft: string) => Promise<void>): Promise<string> {
  const isThere = () =>
    stat(path).then(
      () => true,
      () => false,
    )
  if (await isThere()) return path
  const draft = `${path}.${randomUUID()}`
  await mkdir(dirname(path), { recursive: true })
  try {
    await make(draft)
    await rename(draft, path)
  } catch (error) {
    if (!(await isThere())) throw error
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  return path
}

async function needJava(): Promise<void> {
  const said = await run('java', ['-version']).then(
    ({ stderr }) => stderr,
    () => null,
  )
  const version = Number(/version "(\d+)/.exec(said ?? '')?.[1] ?? 0)
  if (version < 17)
    throw new KafkaMissing(
      `Kafka needs Java 17 or newer, and ${said === null ? 'there is no java on the PATH' : `this is Java ${version}`}; on Debian: apt-get install -y --no-install-recommends openjdk-17-jre-headless maven`,
    )
}

async function needMaven(): Promise<void> {
  await run('mvn', ['-v']).catch(cause => {
    throw new KafkaMissing(
      'Kafka is downloaded by Maven, and there is no mvn on the PATH; on Debian: apt-get install -y --no-install-recommends maven',
      { cause },
    )
  })
}

const saidBy = (error: { stdout?: string; message?: string }): string =>
  (error.stdout || error.message || '').split('\n').slice(0, 3).join(' ')
