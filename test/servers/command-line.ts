import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'

export type Ended = { code: number | null; stdout: string; stderr: string }
export type RunOptions = {
  stdin?: string
  env?: Record<string, string>
  /** Called with all of stdout so far; what it does to the process may depend on it. */
  onStdout?: (text: string, kill: (signal: NodeJS.Signals) => void) => void
}
export type CommandLine = {
  /** Runs `forge` with these arguments to its end, without a terminal. */
  run(args: readonly string[], options?: RunOptions): Promise<Ended>
  /** Its home, where it keeps its contexts. */
  home: string
}

const launcher = join(import.meta.dirname, '../../clients/cli/forge.sh')

/** The command line with an empty home of its own, speaking to that server. */
export async function commandLine(
  t: ExecutionContext,
  server: Record<string, string>,
): Promise<CommandLine> {
  const home = await mkdtemp(join(tmpdir(), 'forge-home-'))
  t.teardown(() => rm(home, { recursive: true, force: true }))
  const own = { PATH: process.env.PATH, HOME: home, ...server }
  return {
    home,
    run: (args, { stdin = '', env = {}, onStdout } = {}) =>
      new Promise((resolve, reject) => {
        const child = spawn(launcher, args, { env: { ...own, ...env } })
        let [stdout, stderr] = ['', '']
        child.stdout.on('data', chunk => {
          stdout += chunk
          onStdout?.(stdout, signal => void child.kill(signal))
        })
        child.stderr.on('data', chunk => {
          stderr += chunk
        })
        child.once('error', reject)
        child.once('close', code => resolve({ code, stdout, stderr }))
        child.stdin.end(stdin)
      }),
  }
}
