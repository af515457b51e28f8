import { spawn } from 'node:child_process'

type Surroundings = {
  platform: string
  env: Record<string, string | undefined>
  /** Somebody sits at a terminal. */
  isTerminal: boolean
}

/** The program that opens an address in a person's browser; null where there is nobody, or no screen. */
export function browserOpener({ platform, env, isTerminal }: Surroundings): string | null {
  if (!isTerminal) return null
  if (platform === 'darwin') return 'open'
  return env.DISPLAY || env.WAYLAND_DISPLAY ? 'xdg-open' : null
}

/** Whether it works is not waited for: the address is on the terminal too. */
export function openInBrowser(opener: string, url: string): void {
  const child = spawn(opener, [url], { detached: true, stdio: 'ignore' })
  child.on('error', () => {})
  child.unref()
}
