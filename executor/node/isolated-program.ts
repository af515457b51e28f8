import { chown, type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Cgroup } from '../attempts/attempt-directory.ts'
import { createCgroup, enterCgroup, leaveCgroup, removeCgroup } from './cgroup.ts'
import { diskUse } from './disk-use.ts'
import { enclosureOf, hasIdentities, type Isolation } from './isolation.ts'
import { killRun, type Quarry } from './kill-run.ts'
import { markVariable } from './processes.ts'
import { openToRoot, RunIdentities } from './run-identity.ts'
import { startCommand } from './start-command.ts'

/** A program that runs once, isolated as runs are; it does not outlive this server. */
export type IsolatedProgram = {
  /** Letters, digits, `_` and `-`. What an earlier program of this name left, processes included, is removed first. */
  name: string
  command: readonly string[]
  env: Record<string, string>
  /** Files and folders besides those of the system. */
  readable: readonly string[]
  limits: { ms: number; outputBytes: number; diskBytes: number }
}

export type ProgramEnd = {
  exit_code: number | null
  signal: string | null
  /** The limit for which it was killed. */
  exceeded: keyof IsolatedProgram['limits'] | null
  /** The last bytes of its output, within the limit. */
  stdout: string
  stderr: string
}

/** How often its limits are checked, in milliseconds. */
const lookMs = 250
const diskEvery = 4

export async function runIsolated(
  isolation: Isolation,
  program: IsolatedProgram,
  signal: AbortSignal,
): Promise<ProgramEnd> {
  const { ground } = isolation
  const { name, limits } = program
  const directory = path.join(ground.runsDirectory, `.${name}`)
  await killRun({ mark: name, cgroup: null, sessions: [], owner: null })
  await rm(directory, { recursive: true, force: true })
  const { cgroup } = createCgroup(`forge-${name}`, ground.limits)
  const files: FileHandle[] = []
  try {
    const place = await makePlace(isolation, directory, name)
    const python = ground.python?.executable ?? null
    const owner = place.id === null ? null : { id: place.id, python }
    const quarry: Quarry = { mark: name, cgroup, sessions: [], owner }
    for (const output of ['stdout', 'stderr'])
      files.push(await open(path.join(directory, output), 'w+', 0o600))
    const started = await start(isolation, program, { place, files, cgroup })
    quarry.sessions = [started.pid]
    const watch = watchLimits({ limits, place, files, pid: started.pid, signal })
    const exceeded = await Promise.race([started.ended.then(() => null), watch.exceeded])
    watch.stop()
    // It may have left processes behind.
    await killRun(quarry)
    const { exit_code, signal: killedBy } = await started.ended
    signal.throwIfAborted()
    const [stdout = '', stderr = ''] = await Promise.all(
      files.map(file => lastOf(file, limits.outputBytes)),
    )
    return { exit_code, signal: killedBy, exceeded, stdout, stderr }
  } finally {
    for (const file of files) await file.close()
    removeCgroup(cgroup)
    await rm(directory, { recursive: true, force: true })
  }
}

type ProgramPlace = { work: string; tmp: string; id: number | null }

async function makePlace(
  isolation: Isolation,
  directory: string,
  name: string,
): Promise<ProgramPlace> {
  const { runsDirectory, ids } = isolation.ground
  const id = hasIdentities(isolation)
    ? await new RunIdentities(runsDirectory, ids).of(`.${name}`)
    : null
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const [work, tmp] = [path.join(directory, 'work'), path.join(directory, 'tmp')]
  for (const folder of [work, tmp]) {
    await mkdir(folder, { mode: 0o700 })
    if (id !== null) await chown(folder, id, id)
  }
  if (id !== null) await openToRoot(tmp, id)
  return { work, tmp, id }
}

type In = { place: ProgramPlace; files: readonly FileHandle[]; cgroup: Cgroup | null }

function start(
  isolation: Isolation,
  { name, command, env, readable }: IsolatedProgram,
  { place: { work, tmp, id }, files, cgroup }: In,
) {
  const enclosure = enclosureOf(isolation, {
    identity: id === null ? null : { id, groups: [] },
    ...{ work, tmp, readable: [...readable], writable: [], devices: [] },
  })
  const own = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    LANG: 'C.UTF-8',
    TMPDIR: isolation.mode === 'bubblewrap' ? '/tmp' : tmp,
    HOME: work,
    ...env,
    [markVariable]: name,
  }
  const [stdout, stderr] = files.map(({ fd }) => fd) as [number, number]
  // The child is started in the same turn: this process must not stay in the group that it may have to kill.
  if (cgroup) tolerate(() => enterCgroup(cgroup))
  try {
    return startCommand({ command, env: own, cwd: work, stdout, stderr }, enclosure)
  } finally {
    if (cgroup) tolerate(() => leaveCgroup(cgroup))
  }
}

/** Without a control group its processes are found by their mark, their session and their user. */
function tolerate(move: () => void): void {
  try {
    move()
  } catch {
    // As in `supervisor.ts`: not permitted on this machine.
  }
}

type Watched = Pick<IsolatedProgram, 'limits'> &
  Pick<In, 'place' | 'files'> & { pid: number; signal: AbortSignal }

type Exceeded = ProgramEnd['exceeded']

/** `exceeded` resolves when it must be killed: with the limit, or null if it is no longer wanted. */
function watchLimits({ limits, place, files, pid, signal }: Watched) {
  const { promise, resolve } = Promise.withResolvers<Exceeded>()
  const until = performance.now() + limits.ms
  let looks = 0
  const look = async (): Promise<Exceeded> => {
    if (performance.now() > until) return 'ms'
    for (const file of files)
      if ((await file.stat()).size > limits.outputBytes) return 'outputBytes'
    looks += 1
    if (looks % diskEvery !== 0) return null
    const used = await diskUse([place.work, place.tmp], [pid])
    return used > limits.diskBytes ? 'diskBytes' : null
  }
  const timer = setInterval(() => {
    look().then(
      found => found && resolve(found),
      () => resolve(null),
    )
  }, lookMs)
  const abort = () => resolve(null)
  signal.addEventListener('abort', abort, { once: true })
  return {
    exceeded: promise,
    stop() {
      clearInterval(timer)
      signal.removeEventListener('abort', abort)
    },
  }
}

async function lastOf(file: FileHandle, bytes: number): Promise<string> {
  const { size } = await file.stat()
  const from = Math.max(0, size - bytes)
  const buffer = Buffer.alloc(size - from)
  const { bytesRead } = await file.read(buffer, 0, buffer.length, from)
  return buffer.subarray(0, bytesRead).toString('utf8')
}
