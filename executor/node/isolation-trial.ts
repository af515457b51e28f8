import { createHash, randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { chmod, chown, mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Enclosure } from '../attempts/enclosure.ts'
import { enclosureOf, type Ground, hasIdentities } from './isolation.ts'
import { trySignal } from './processes.ts'
import { openToRoot } from './run-identity.ts'
import { startCommand } from './start-command.ts'

/**
 * Succeeds if it can do everything that a run must and nothing that a run must not; prints which environments it can read, and to
 * which sockets it can connect.
 */
const program = `
import hashlib, json, os, sys
asked = json.loads(sys.argv[1])
with open("written", "w") as file: file.write("x")
for folder in asked["needed"]: os.listdir(folder)
def readable(path):
    try:
        with open(path, "rb") as file: return file.read()
    except OSError: return None
def reached(path):
    import socket
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(2)
        try: probe.connect(path)
        except BlockingIOError: pass
        except OSError: return False
    return True
if readable(asked["secret"]) is not None: sys.exit("it can read the files of the server")
for path in asked["hidden"]:
    if readable(path): sys.exit("it can read " + path + ": close it to other users, or move it into the data directory")
found = [readable("/proc/" + name + "/environ") for name in os.listdir("/proc") if name.isdigit()]
print(json.dumps({
    "environments": [hashlib.sha256(one).hexdigest() for one in found if one],
    "reached": [path for path in asked["sockets"] if reached(path)]}))
`

type Found = { environments: string[]; reached: string[] }

/** `fault`: why a mode does not hold on this machine, or null; `reached`: sockets that are open to runs all the same. */
type Outcome = { fault: string | null; reached: string[] }

const failed = (fault: string): Outcome => ({ fault, reached: [] })

const patienceMs = 20_000

/** Runs a small program confined like a run. */
export async function tryOut(mode: Enclosure['mode'], ground: Ground): Promise<Outcome> {
  const { python, needed, sockets } = ground
  if (mode === 'user' && process.getuid?.() !== 0) return failed('it needs root')
  if (python === null) return failed('there is no Python')
  const directory = path.join(ground.runsDirectory, `.new-${randomUUID()}`)
  try {
    if (mode === 'user') await letPass(ground)
    const place = await makePlace(directory, mode, ground)
    const enclosure = enclosureOf({ mode, ground }, place)
    const files = await Promise.all([open(place.stdout, 'w'), open(place.stderr, 'w')])
    const [stdout, stderr] = files.map(file => file.fd) as [number, number]
    const asked = { secret: place.secret, needed, sockets, hidden: ground.hidden.filter(isFile) }
    const command = [python.executable, '-I', '-S', '-c', program, JSON.stringify(asked)]
    const env = { PATH: process.env.PATH ?? '/usr/bin:/bin' }
    const started = startCommand({ command, env, cwd: place.work, stdout, stderr }, enclosure)
    const end = await started
      .then(({ pid, ended }) => {
        const timer = setTimeout(() => trySignal(-pid, 'SIGKILL'), patienceMs)
        return ended.finally(() => clearTimeout(timer))
      })
      .finally(() => Promise.all(files.map(file => file.close())))
    return await verdict(end.exit_code, place)
  } catch (error) {
    const said = await readFile(path.join(directory, 'stderr'), 'utf8').catch(() => '')
    const message = error instanceof Error ? error.message : error
    return failed(`${message} ${said.trim().slice(-300)}`.trim())
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function verdict(
  code: number | null,
  { stdout, stderr }: { stdout: string; stderr: string },
): Promise<Outcome> {
  const said = (await readFile(stderr, 'utf8')).trim()
  if (code !== 0)
    return failed(said.split('\n').at(-1)?.slice(-300) || `its trial ended with ${code}`)
  const own = createHash('sha256').update(await readFile('/proc/self/environ'))
  const { environments, reached } = JSON.parse(await readFile(stdout, 'utf8')) as Found
  const readsOwn = environments.includes(own.digest('hex'))
  return readsOwn ? failed('it can read the environment of the server') : { fault: null, reached }
}

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false

/** Users of runs may pass the folders above their own, not list them. */
async function letPass({ runsDirectory, passed }: Ground): Promise<void> {
  for (const folder of [...passed, runsDirectory])
    await chmod(folder, ((await stat(folder)).mode & 0o777) | 0o011)
}

async function makePlace(directory: string, mode: Enclosure['mode'], ground: Ground) {
  const { first, count } = ground.ids
  const id = first + count - 1
  const identity = hasIdentities({ mode }) ? { id, groups: [] } : null
  const [work, tmp, secret] = ['work', 'tmp', 'secret'].map(name => path.join(directory, name)) as [
    string,
    string,
    string,
  ]
  await mkdir(directory, { mode: 0o711 })
  for (const folder of [work, tmp]) {
    await mkdir(folder, { mode: 0o700 })
    if (identity) await chown(folder, id, id)
  }
  if (identity) await openToRoot(tmp, id)
  await writeFile(secret, 'x', { mode: 0o600 })
  const own = { identity, work, tmp, readable: ground.needed, writable: [], devices: [] }
  return {
    ...own,
    secret,
    stdout: path.join(directory, 'stdout'),
    stderr: path.join(directory, 'stderr'),
  }
}
