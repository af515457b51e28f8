import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { compiled } from './compiled.ts'
import type { Forge } from './forge.ts'

const launcher = join(import.meta.dirname, '../../clients/cli/forge.sh')

/** Runs a line of the shell in which `forge` is the command line, signed in, with its home and working folder there. */
export async function shell({ forge, home }: { forge: Forge; home: string }, script: string) {
  const env = {
    ...{ PATH: process.env.PATH ?? '', HOME: home, NODE_COMPILE_CACHE: compiled },
    ...{ FORGE_HOST: forge.url, FORGE_TOKEN: forge.token, FORGE: launcher },
  }
  const whole = `set -o pipefail; forge() { "$FORGE" "$@"; }; ${script}`
  const child = spawn('bash', ['-c', whole], { env, cwd: home })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', chunk => {
    stdout += chunk
  })
  child.stderr.on('data', chunk => {
    stderr += chunk
  })
  const code = await new Promise<number | null>(resolve => child.once('close', resolve))
  return { code, stdout, stderr }
}
