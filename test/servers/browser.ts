import { execFile } from 'node:child_process'
import { mkdtemp, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import chromium from '@sparticuz/chromium'
import type { ExecutionContext } from 'ava'
import { type Browser, chromium as playwright } from 'playwright-core'
import pack from '../../package.json' with { type: 'json' }

const run = promisify(execFile)
const unpack = fileURLToPath(new URL('unpack-browser.ts', import.meta.url))

/** Removed from Chromium's flags, so that pages are tested with the protections of people's browsers. */
const insecureFlags = ['--disable-web-security', '--allow-running-insecure-content']

/** Chromium from npm; closed after the test. */
export async function openBrowser(t: ExecutionContext): Promise<Browser> {
  const args = chromium.args.filter(arg => !insecureFlags.includes(arg))
  const browser = await playwright.launch({
    executablePath: await findBrowser(),
    args: [...args, '--no-first-run', '--disable-background-networking', '--disable-sync'],
  })
  t.teardown(() => browser.close())
  return browser
}

/**
 * Unpacks the browser once a machine. In a process of its own: a file that this one had open for writing while
 * it started a server could not be run until that server's program is loaded. Under a name of its own, moved
 * when it is whole: tests in other processes look for it at the same time.
 */
async function findBrowser(): Promise<string> {
  const folder = join(tmpdir(), `forge-chromium-${pack.devDependencies['@sparticuz/chromium']}`)
  const isThere = () => stat(folder).then(Boolean, () => false)
  if (!(await isThere())) {
    const draft = await mkdtemp(`${folder}-`)
    await run(process.execPath, [unpack], { env: { ...process.env, TMPDIR: draft } })
    await rename(draft, folder).catch(async error => {
      await rm(draft, { recursive: true })
      if (!(await isThere())) throw error
    })
  }
  return join(folder, 'chromium')
}
