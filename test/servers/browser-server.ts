import { chromium } from 'playwright-core'
import { chromiumOptions } from './chromium.ts'
import type { Hosted } from './hosted.ts'

/** In a single process, a browser can only have one context: it crashes on the second. */
const oneProcess = ['--single-process', '--no-zygote']

/** The browser of a test run; tests connect to it through Playwright. */
export async function startBrowser(): Promise<Hosted> {
  const { args, ...options } = await chromiumOptions()
  const server = await chromium.launchServer({
    ...options,
    args: args.filter(arg => !oneProcess.includes(arg)),
    host: '127.0.0.1',
    // The host stops it.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  })
  return { address: server.wsEndpoint(), stop: () => server.close() }
}
