import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, open, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../../platform/free-port.ts'
import { fetchJars, formatData, ownFile, type Protection, propertiesOf } from './distribution.ts'

export type Broker = {
  /** `host:port` */
  address: string
  pid: number
  /** Resolves once the process is gone. SIGTERM shuts down in order, SIGKILL is a crash. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

export type BrokerOptions = {
  /** Data, log and settings of this broker; may hold the data of an earlier one. */
  folder: string
  /** Default: a free one. */
  port?: number
  /** The port that the broker announces to clients, e.g. of a proxy in front of it; default `port`. */
  advertisedPort?: number
  /** Options of the JVM; by default it is small and starts fast. */
  javaOptions?: readonly string[]
  /** Default: plaintext without passwords. */
  protection?: Protection
}

/** On a busy machine a start takes 20 s. */
const readyWithinMs = 60_000
const lookEveryMs = 50
const smallJava = ['-Xms64m', '-Xmx256m', '-XX:TieredStopAtLevel=1']

/** Starts a real single-node broker on 127.0.0.1; resolves once it is ready for clients. */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const { folder, advertisedPort, javaOptions = smallJava, protection } = options
  const jars = await fetchJars()
  const dataFolder = join(folder, 'data')
  await mkdir(folder, { recursive: true })
  if (!(await exists(dataFolder))) await formatData(jars, dataFolder, protection)

  const port = options.port ?? (await freePort())
  const properties = join(folder, 'server.properties')
  const controllerPort = await freePort()
  await writeFile(
    properties,
    await propertiesOf({ dataFolder, port, controllerPort, advertisedPort, protection }),
  )
  const logPath = join(folder, 'broker.log')
  const log = await open(logPath, 'w')
  const logging = `-Dlog4j2.configurationFile=${ownFile('log4j2.properties')}`
  const args = [...javaOptions, '-cp', `${jars}/*`, logging, 'kafka.Kafka', properties]
  // Its own process group, so that Ctrl-C does not end the broker before its clients.
  const child = spawn('java', args, { detached: true, stdio: ['ignore', log.fd, log.fd] })
  await log.close()
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  await untilReady(child, logPath)
  return {
    address: `127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      await ended
    },
  }
}

async function untilReady(child: ChildProcess, logPath: string): Promise<void> {
  let failure: string | null = null
  child.once('error', error => {
    failure = error.message
  })
  child.once('exit', (code, signal) => {
    failure = `it ended with ${signal ?? code}`
  })
  const deadline = Date.now() + readyWithinMs
  for (;;) {
    const said = await readFile(logPath, 'utf8')
    if (said.includes('Kafka Server started')) return
    if (failure === null && Date.now() > deadline) {
      child.kill('SIGKILL')
      failure = `not ready within ${readyWithinMs / 1000} s`
    }
    if (failure !== null)
      throw new Error(`The Kafka broker did not start, ${failure}:\n${said.slice(-2000)}`)
    await new Promise(resolve => setTimeout(resolve, lookEveryMs))
  }
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  )
}
