import { execFile } from 'node:child_process'
import { mkdtemp, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import chromium from '@sparticuz/chromium'
import { type Browser, type LaunchOptions, chromium as playwright } from 'playwright-core'
import pack from '../../package.json' with { type: 'json' }

const run = promisify(execFile)
const unpack = fileURLToPath(new URL('unpack-browser.ts', import.meta.url))

/** Removed from Chromium's flags, so that pages are tested with the protections of people's browsers. */
const insecureFlags = ['--disable-web-security', '--allow-running-insecure-content']

/**
 * Software WebGL, which these flags would enable, also draws each canvas: a chart of ten lines then occasionally takes
 * seconds. Without it canvases are drawn as on people's machines that have no GPU.
 */
const gpuFlags =
  /^--(ignore-gpu-blocklist|in-process-gpu|use-gl|use-angle|enable-unsafe-swiftshader)\b/

/** For the start of Chromium from npm. */
export async function chromiumOptions(): Promise<LaunchOptions & { args: string[] }> {
  const args = chromium.args.filter(arg => !insecureFlags.includes(arg) && !gpuFlags.test(arg))
  return {
    executablePath: await findBrowser(),
    args: [
      ...args,
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-sync',
    ],
  }
}

/** The caller's own browser; tests share one (browser.ts). */
export const launchBrowser = async (): Promise<Browser> =>
  playwright.launch(await chromiumOptions())

/**
 * Unpacks the browser once per machine. In a separate process: a file that this process had open for writing while
 * it started a server could not be run until that server's program was loaded. Under a temporary name, moved
 * when complete: tests in other processes look for it at the same time.
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
