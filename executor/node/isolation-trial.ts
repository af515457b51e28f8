import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { chmod, chown, mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import path from 'node:path'
import type { Enclosure } from '../attempts/enclosure.ts'
import { createCgroup, removeCgroup } from './cgroup.ts'
import { enclosureOf, type Gap, type Ground, hasIdentities } from './isolation.ts'
import { trySignal } from './processes.ts'
import { openToRoot } from './run-identity.ts'
import type { Held } from './run-limits.ts'
import { startCommand } from './start-command.ts'

/**
 * Succeeds if it can do everything that a run must and nothing that a run must not; prints which environments it can read, to
 * which sockets it can connect, and which further promises do not hold.
 */
const program = `
import hashlib, json, os, resource, socket, sys
asked = json.loads(sys.argv[1])
with open("written", "w") as file: file.write("x")
for folder in asked["needed"]: os.listdir(folder)
def readable(path):
    try:
        with open(path, "rb") as file: return file.read()
    except OSError: return None
def reached(path):
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(2)
        try: probe.connect(path)
        except BlockingIOError: pass
        except OSError: return False
    return True
def succeeds(act):
    try: act()
    except OSError: return False
    return True
def be_spared():
    with open("/proc/self/oom_score_adj", "r+") as file: file.write(asked["oom_score_adj"])
gaps = {
    "sockets": reached("\\0" + asked["abstract"]),
    "signals": succeeds(lambda: os.kill(asked["server"], 0)),
    "calls": succeeds(lambda: resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE)),
    "processes": os.getuid() == 0 or not 0 <= resource.getrlimit(resource.RLIMIT_NPROC)[1] <= asked["processes"],
    "spared": succeeds(be_spared),
}
if readable(asked["secret"]) is not None: sys.exit("it can read the files of the server")
for path in asked["hidden"]:
    if readable(path): sys.exit("it can read " + path + ": close it to other users, or move it into the data directory")
found = [readable("/proc/" + name + "/environ") for name in os.listdir("/proc") if name.isdigit()]
print(json.dumps({
    "environments": [hashlib.sha256(one).hexdigest() for one in found if one],
    "reached": [path for path in asked["sockets"] if reached(path)],
    "gaps": [name for name in gaps if gaps[name]]}))
`

type Found = { environments: string[]; reached: string[]; gaps: Gap[] }

/**
 * `fault`: why a mode does not hold on this machine, or null; `reached`: sockets that are open to runs all the same; `gaps`: further
 * promises that do not hold.
 */
type Outcome = { fault: string | null; reached: string[]; gaps: Gap[] }

const failed = (fault: string): Outcome => ({ fault, reached: [], gaps: [] })

const patienceMs = 20_000

export type TryOut = (mode: Enclosure['mode'], ground: Ground) => Promise<Outcome>

/** Runs a small program confined like a run. */
export const tryOut: TryOut = async (mode, ground) => {
  const { python, needed, sockets } = ground
  if (mode === 'user' && process.getuid?.() !== 0) return failed('it needs root')
  if (python === null) return failed('there is no Python')
  const directory = path.join(ground.runsDirectory, `.new-${randomUUID()}`)
  const listener = await listen(`forge-${randomUUID()}`)
  try {
    if (mode === 'user') await letPass(ground)
    const place = await makePlace(directory, mode, ground)
    const enclosure = enclosureOf({ mode, ground }, place)
    const files = await Promise.all([open(place.stdout, 'w'), open(place.stderr, 'w')])
    const [stdout, stderr] = files.map(file => file.fd) as [number, number]
    const asked = {
      ...{ secret: place.secret, needed, sockets, hidden: ground.hidden.filter(isFile) },
      ...{ server: process.pid, abstract: listener.name, processes: ground.limits.processes },
      oom_score_adj: (await readFile('/proc/self/oom_score_adj', 'utf8')).trim(),
    }
    const command = [python.executable, '-I', '-S', '-c', program, JSON.stringify(asked)]
    const env = { PATH: process.env.PATH ?? '/usr/bin:/bin' }
    const started = startCommand({ command, env, cwd: place.work, stdout, stderr }, enclosure)
    const end = await started
      .then(({ pid, ended }) => {
        const timer = setTimeout(() => trySignal(-pid, 'SIGKILL'), patienceMs)
        return ended.finally(() => clearTimeout(timer))
      })
      .finally(() => Promise.all(files.map(file => file.close())))
    return await verdict(end.exit_code, place, heldByGroups(ground))
  } catch (error) {
    const said = await readFile(path.join(directory, 'stderr'), 'utf8').catch(() => '')
    const message = error instanceof Error ? error.message : error
    return failed(`${message} ${said.trim().slice(-300)}`.trim())
  } finally {
    listener.end()
    await rm(directory, { recursive: true, force: true })
  }
}

/** An abstract socket, such as programs of this machine use among themselves: it has a name and no permissions. */
async function listen(name: string): Promise<{ name: string; end: () => void }> {
  const server = createServer(connection => connection.destroy()).listen(`\0${name}`)
  await once(server, 'listening')
  return { name, end: () => server.close() }
}

/** Limits that the control group of a run would have. */
function heldByGroups({ limits }: Ground): Held {
  const { cgroup, held } = createCgroup(`forge-trial-${randomUUID()}`, limits)
  removeCgroup(cgroup)
  return held
}

async function verdict(
  code: number | null,
  { stdout, stderr }: { stdout: string; stderr: string },
  held: Held,
): Promise<Outcome> {
  const said = (await readFile(stderr, 'utf8')).trim()
  if (code !== 0)
    return failed(said.split('\n').at(-1)?.slice(-300) || `its trial ended with ${code}`)
  const own = createHash('sha256').update(await readFile('/proc/self/environ'))
  const { environments, reached, gaps } = JSON.parse(await readFile(stdout, 'utf8')) as Found
  if (environments.includes(own.digest('hex')))
    return failed('it can read the environment of the server')
  const memory = held.memory_bytes ? [] : (['memory'] as const)
  const left = gaps.filter(gap => gap !== 'processes' || !held.processes)
  return { fault: null, reached, gaps: [...left, ...memory] }
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
