import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { glob, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'clients/console')
/** Each build has its own subfolder, named after the sources it was built from. */
const builds = join(folder, 'dist')
/** Time limit of the build, in milliseconds; it usually takes some seconds. */
const mostMs = 180_000

/**
 * Returns the folder of the built console, with `index.html` and `assets/`. If its sources have changed, announces
 * and runs a build. Safe for several processes at once.
 */
export async function buildConsole(say: (text: string) => void): Promise<string> {
  const built = join(builds, await digestOfSources())
  if (await exists(built)) return built
  say('Building the console, which takes some seconds')
  const began = performance.now()
  const half = join(builds, `.building-${process.pid}-${Math.round(began)}`)
  try {
    await mkdir(half, { recursive: true })
    await vite(half)
    await compress(join(half, 'assets'))
    await settle(half, built)
  } finally {
    await rm(half, { recursive: true, force: true })
  }
  await removeOthers(built)
  say(`The console was built in ${Math.round(performance.now() - began)} ms`)
  return built
}

/** Changes with everything that goes into the console. */
async function digestOfSources(): Promise<string> {
  const hash = createHash('sha256')
  const sources = ['index.html', 'vite.config.ts', 'src/**/*']
  const files: string[] = [join(root, 'package-lock.json')]
  for await (const entry of glob(sources, { cwd: folder, withFileTypes: true }))
    if (entry.isFile()) files.push(join(entry.parentPath, entry.name))
  for await (const name of glob('**/*.ts', { cwd: join(root, 'schemas') }))
    files.push(join(root, 'schemas', name))
  for (const file of files.sort())
    hash
      .update(`${relative(root, file)}\n`)
      .update(await readFile(file))
      .update('\n')
  return hash.digest('hex').slice(0, 20)
}

async function vite(outDir: string): Promise<void> {
  const bin = join(createRequire(import.meta.url).resolve('vite/package.json'), '../bin/vite.js')
  const args = [bin, 'build', folder, '--outDir', outDir, '--emptyOutDir', '--logLevel', 'warn']
  // Otherwise the environment of the server would decide whether React checks and explains itself, in twice the size.
  const env = { ...process.env, NODE_ENV: 'production' }
  await promisify(execFile)(process.execPath, args, { cwd: root, timeout: mostMs, env }).catch(
    error => {
      throw new Error(`The console could not be built: ${error.stderr || error.message}`)
    },
  )
}

/** Compresses each asset ahead of time, so that no request waits for it. */
async function compress(assets: string): Promise<void> {
  for (const name of await readdir(assets)) {
    const bytes = await readFile(join(assets, name))
    await writeFile(
      join(assets, `${name}.gz`),
      await promisify(gzip)(bytes, { level: 9, memLevel: 9 }),
    )
  }
}

/** Another process may have finished first. */
async function settle(half: string, built: string): Promise<void> {
  await rename(half, built).catch(async error => {
    if (!(await exists(built))) throw error
  })
}

/** Running servers hold their build in memory. */
async function removeOthers(built: string): Promise<void> {
  for (const name of await readdir(builds)) {
    const other = join(builds, name)
    if (other !== built && !name.startsWith('.')) await rm(other, { recursive: true, force: true })
  }
}

const exists = (path: string): Promise<boolean> =>
  readdir(path).then(
    () => true,
    () => false,
  )
