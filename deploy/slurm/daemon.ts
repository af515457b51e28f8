import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'

export type Daemon = {
  name: string
  hasEnded(): boolean
  /** The end of its log. */
  printed(): Promise<string>
  /** Resolves once the process is gone; SIGKILL is a crash. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** After a `stop`. */
  restart(): Promise<void>
}

export type DaemonOptions = {
  /** Receives its log. */
  folder: string
  env: Record<string, string>
  program: string
  args: string[]
  /** The user and group that it switches to. */
  id?: number
}

const patienceMs = 10_000
const keptCharacters = 3000

/** Starts a daemon in the foreground, in a separate process group: Ctrl-C is meant for the code that stops it in order. */
export async function startDaemon(name: string, options: DaemonOptions): Promise<Daemon> {
  const { folder, env, program, args, id } = options
  const log = join(folder, `${name.replace(' ', '-')}.log`)
  const begin = async (): Promise<ChildProcess> => {
    const file = await open(log, 'a')
    const child = spawn(program, args, {
      cwd: folder,
      env,
      detached: true,
      stdio: ['ignore', file.fd, file.fd],
      ...(id !== undefined && { uid: id, gid: id }),
    })
    // Without a listener it would end this process; `hasEnded` reports the fault.
    child.on('error', () => {})
    await file.close()
    return child
  }
  let child = await begin()
  const hasEnded = () =>
    child.pid === undefined || child.exitCode !== null || child.signalCode !== null
  return {
    name,
    hasEnded,
    printed: async () => `${name}: ${(await readFile(log, 'utf8')).slice(-keptCharacters)}`,
    async stop(signal = 'SIGTERM') {
      if (hasEnded()) return
      const ended = once(child, 'exit')
      child.kill(signal)
      const impatience = setTimeout(() => child.kill('SIGKILL'), patienceMs)
      await ended
      clearTimeout(impatience)
    },
    async restart() {
      child = await begin()
    },
  }
}
