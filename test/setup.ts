import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { fetchJars } from '../deploy/kafka/distribution.ts'
import { fetchJar } from '../deploy/s3/server.ts'
import { findDumpTools } from './servers/dump-tools.ts'
import { findRedis } from './servers/redis-server.ts'
import { tryMount } from './servers/small-disk.ts'
import type { Needed } from './tiers.ts'

const run = promisify(execFile)

type Part = { find: () => Promise<unknown>; packages: string[] }

const parts: Partial<Record<Needed, Part>> = {
  kafka: { find: fetchJars, packages: ['default-jre-headless', 'maven'] },
  s3: { find: fetchJar, packages: ['default-jre-headless', 'maven'] },
  redis: { find: findRedis, packages: ['redis-server'] },
  dump: { find: findDumpTools, packages: ['postgresql'] },
  mount: { find: tryMount, packages: ['mount'] },
}

/**
 * Installs the requirements of a test server: downloads it, and if that is not enough and permitted, installs Debian packages.
 * Returns null, or a sentence about the missing part.
 */
export async function bring(name: Needed): Promise<string | null> {
  const part = parts[name]
  if (!part) return null
  const missing = await why(part)
  if (missing === null || process.getuid?.() !== 0) return missing
  try {
    await run('apt-get', ['update'])
    await run('apt-get', ['install', '-y', '--no-install-recommends', ...part.packages])
  } catch {
    return missing
  }
  return await why(part)
}

/** The same without installing anything. */
export async function lacks(name: Needed): Promise<string | null> {
  const part = parts[name]
  return part ? await why(part) : null
}

const why = (part: Part): Promise<string | null> =>
  part.find().then(
    () => null,
    (error: Error) => error.message,
  )

// `npm run setup:test`
if (import.meta.main)
  for (const name of ['kafka', 's3', 'redis', 'dump', 'mount'] as const) {
    const missing = await bring(name)
    process.stdout.write(`${name}: ${missing ?? 'there'}\n`)
    if (missing !== null) process.exitCode = 1
  }
