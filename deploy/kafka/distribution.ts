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

/** Kafka is not available on this machine; the message names the missing part and how to install it. */
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
export async function formatData(
  jars: string,
  dataFolder: string,
  protection?: Protection,
): Promise<void> {
  // The passwords of SCRAM are part of the data.
  if (protection) return await format(jars, dataFolder, scramUsers(protection))
  const formatted = await makeOnce(join(await versionFolder(), 'formatted'), draft =>
    format(jars, draft, []),
  )
  await cp(formatted, dataFolder, { recursive: true })
}

async function format(jars: string, dataFolder: string, more: readonly string[]): Promise<void> {
  const properties = `${dataFolder}.properties`
  await writeFile(properties, await propertiesOf({ dataFolder, port: 1, controllerPort: 2 }))
  const id = randomUUID().replaceAll('-', '').slice(0, 22)
  const tool = ['kafka.tools.StorageTool', 'format', '-t', id, '-c', properties, ...more]
  await run('java', ['-cp', `${jars}/*`, ...tool])
  await rm(properties)
}

/** TLS with certificates on both sides, and then a password by any mechanism. */
export type Protection = {
  /** PEM files: the broker's key with its certificate, and the certificates that it trusts. */
  serverFile: string
  caFile: string
  username: string
  password: string
}

const scramUsers = ({ username, password }: Protection) =>
  ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap(mechanism => [
    '--add-scram',
    `${mechanism}=[name=${username},password=${password}]`,
  ])

export type Node = {
  dataFolder: string
  port: number
  controllerPort: number
  /** Default: `port`. */
  advertisedPort?: number | undefined
  protection?: Protection | undefined
}

export async function propertiesOf(node: Node): Promise<string> {
  const { dataFolder, port, controllerPort, advertisedPort = port, protection } = node
  const base = await readFile(ownFile('server.properties'), 'utf8')
  return `${base}
controller.quorum.voters=1@127.0.0.1:${controllerPort}
listeners=BROKER://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}
advertised.listeners=BROKER://127.0.0.1:${advertisedPort}
log.dirs=${dataFolder}
${protection ? protectedListener(protection) : ''}`
}

/** The broker connects to itself through it as well, and so needs a name and a password. */
const protectedListener = ({ serverFile, caFile, username, password }: Protection): string => {
  const module = 'org.apache.kafka.common.security'
  const user = `username="${username}" password="${password}"`
  return `listener.security.protocol.map=BROKER:SASL_SSL,CONTROLLER:PLAINTEXT
ssl.keystore.type=PEM
ssl.keystore.location=${serverFile}
ssl.truststore.type=PEM
ssl.truststore.location=${caFile}
listener.name.broker.ssl.client.auth=required
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
sasl.mechanism.inter.broker.protocol=PLAIN
listener.name.broker.plain.sasl.jaas.config=${module}.plain.PlainLoginModule required ${user} user_${username}="${password}";
listener.name.broker.scram-sha-256.sasl.jaas.config=${module}.scram.ScramLoginModule required ${user};
listener.name.broker.scram-sha-512.sasl.jaas.config=${module}.scram.ScramLoginModule required ${user};
`
}

async function versionFolder(): Promise<string> {
  const version = /<kafka.version>(.*)<\/kafka.version>/.exec(
    await readFile(ownFile('pom.xml'), 'utf8'),
  )?.[1]
  return join(cacheFolder(), 'kafka', version ?? 'unknown')
}

/** Creates `path`, which gets its name only when complete; of two concurrent creations one is discarded. */
export async function makeOnce(
  path: string,
  make: (draft: string) => Promise<void>,
): Promise<string> {
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
