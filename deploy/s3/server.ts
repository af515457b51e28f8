import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../platform/free-port.ts'
import { cacheFolder, makeOnce } from '../kafka/distribution.ts'

const run = promisify(execFile)

/** S3Proxy, with everything it needs in one jar. */
const version = '3.3.0'
const jarSha256 = '7f9e895bf6694a7e0296ffb49c0c3f1b87cd5ea92bfd55f6faf56f6f821f5592'
const jarName = `s3proxy-${version}-jar-with-dependencies.jar`

export const keyId = 'forge'
export const secret = 'forge-development'

export type S3Server = {
  address: string
  pid: number
  /** Resolves once the process is gone. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

const readyWithinMs = 60_000
const lookEveryMs = 50

/** Starts a real S3 server on 127.0.0.1 whose objects are files of `folder`; resolves once it responds. */
export async function startS3({
  folder,
  port: given,
}: {
  folder: string
  port?: number
}): Promise<S3Server> {
  const jar = await fetchJar()
  const port = given ?? (await freePort())
  const address = `http://127.0.0.1:${port}`
  await mkdir(join(folder, 'objects'), { recursive: true })
  const properties = join(folder, 's3proxy.conf')
  await writeFile(properties, propertiesOf(address, join(folder, 'objects')), { mode: 0o600 })
  const logPath = join(folder, 's3proxy.log')
  const log = await open(logPath, 'a')
  const args = ['-Xmx256m', '-XX:TieredStopAtLevel=1', '-jar', jar, '--properties', properties]
  // Its own process group, so that Ctrl-C does not end it before its clients.
  const child = spawn('java', args, { detached: true, stdio: ['ignore', log.fd, log.fd] })
  await log.close()
  let failure: string | null = null
  child.once('error', error => {
    failure = error.message
  })
  const ended = new Promise<void>(resolve => {
    child.once('exit', (code, signal) => {
      failure = `it ended with ${signal ?? code}`
      resolve()
    })
    child.once('error', () => resolve())
  })
  const stop = async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') => {
    child.kill(signal)
    await ended
  }
  const deadline = Date.now() + readyWithinMs
  while (!(await answers(address))) {
    if (failure === null && Date.now() > deadline) {
      await stop('SIGKILL')
      failure = `not ready within ${readyWithinMs / 1000} s`
    }
    if (failure !== null) {
      const said = await readFile(logPath, 'utf8')
      throw new Error(`The S3 server did not start, ${failure}:\n${said.slice(-2000)}`)
    }
    await new Promise(resolve => setTimeout(resolve, lookEveryMs))
  }
  return { address, pid: child.pid ?? 0, stop }
}

const propertiesOf = (address: string, objects: string): string => `s3proxy.endpoint=${address}
s3proxy.authorization=aws-v2-or-v4
s3proxy.identity=${keyId}
s3proxy.credential=${secret}
jclouds.provider=filesystem-nio2
jclouds.filesystem.basedir=${objects}
`

const answers = (address: string): Promise<boolean> =>
  fetch(address).then(
    response => response.body?.cancel().then(() => true) ?? true,
    () => false,
  )

/** The jar, downloaded by Maven the first time. */
export const fetchJar = (): Promise<string> =>
  makeOnce(join(cacheFolder(), 's3proxy', jarName), async draft => {
    const artifact = `org.gaul:s3proxy:${version}:jar:jar-with-dependencies`
    const dependency = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1'
    const maven = (goal: string, ...more: string[]) =>
      run('mvn', ['--batch-mode', '--quiet', `${dependency}:${goal}`, ...more])
    await mkdir(draft)
    try {
      await maven('get', `-Dartifact=${artifact}`, '-Dtransitive=false')
      await maven('copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${draft}`)
    } catch (cause) {
      throw new Error(
        'Maven could not fetch the S3 server; it needs mvn and Java 17 on the PATH; on Debian: apt-get install -y --no-install-recommends openjdk-17-jre-headless maven',
        { cause },
      )
    }
    const hash = createHash('sha256')
    for await (const chunk of createReadStream(join(draft, jarName))) hash.update(chunk)
    if (hash.digest('hex') !== jarSha256)
      throw new Error(`The fetched S3 server is not version ${version}: its bytes differ`)
  }).then(folder => join(folder, jarName))
