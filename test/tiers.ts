import { readFile } from 'node:fs/promises'
import type { ServerName } from './servers/hosted.ts'

/**
 * `dump`: PostgreSQL's own programs, for tests that say `// needs dump`. `mount`: the right to mount a small file system,
 * for tests that say `// needs mount`.
 */
export type Needed = ServerName | 'dump' | 'mount'

/** The parts that may be missing on a machine; the other servers come with npm. */
const installed: readonly Needed[] = ['kafka', 's3', 'redis', 'dump', 'mount']

const needs = (text: string, name: Needed) =>
  text.includes(`addressOf('${name}')`) || text.includes(`// needs ${name}`)

/** The parts that must be installed for these test files. */
export async function needsOf(files: readonly string[]): Promise<Needed[]> {
  const texts = await Promise.all(files.map(file => readFile(file, 'utf8')))
  return installed.filter(name => texts.some(text => needs(text, name)))
}

/** Files that run together, `width` at a time. */
export type Tier = { files: string[]; width: number; needsConsole: boolean; needsSamples: boolean }

const needsNothing = { needsConsole: false, needsSamples: false }

/**
 * Tests that depend on a part of the whole machine: one Slurm cluster, a broker that crashes, the
 * isolation of this host. They run one at a time.
 */
const alone =
  /^test\/(executor\/(slurm\/|isolation|bubblewrap)|platform\/log\/kafka|whole\/(start|chaos|restore)\/)/

const usesSamples = /samples\/server\.ts/

const usesServer =
  /servers\/(forge|postgres|server-process|command-line|rendezvous|serve-routes)\.ts/

/** Sorts the files, leaving out users of a missing part, by the resources they share. */
export async function tiersOf(
  files: readonly string[],
  missing: readonly Needed[],
): Promise<Tier[]> {
  const tiers = {
    alone: { files: [] as string[], width: 1, ...needsNothing },
    together: { files: [] as string[], width: 3, ...needsNothing },
  }
  for (const file of files) {
    const text = await readFile(file, 'utf8')
    if (missing.some(name => needs(text, name))) continue
    const tier = alone.test(file) ? tiers.alone : tiers.together
    tier.files.push(file)
    tier.needsConsole ||= usesServer.test(text)
    tier.needsSamples ||= usesSamples.test(text)
  }
  return Object.values(tiers).filter(({ files }) => files.length > 0)
}
