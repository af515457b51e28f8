import { spawn } from 'node:child_process'

type Surroundings = {
  platform: string
  env: Record<string, string | undefined>
  /** Whether a person is at a terminal. */
  isTerminal: boolean
}

/** The program that opens a URL in a browser; null without a person or a screen. */
export function browserOpener({ platform, env, isTerminal }: Surroundings): string | null {
  if (!isTerminal) return null
  if (platform === 'darwin') return 'open'
  return env.DISPLAY || env.WAYLAND_DISPLAY ? 'xdg-open' : null
}

/** Does not wait or check: the URL is printed too. */
export function openInBrowser(opener: string, url: string): void {
  const child = spawn(opener, [url], { detached: true, stdio: 'ignore' })
  child.on('error', () => {})
  child.unref()
}
