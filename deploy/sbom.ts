import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { v5 } from 'uuid'

// `npm run sbom [FILE]`: what an installation of this version consists of, as a CycloneDX document to keep with a release.

type Component = {
  'bom-ref': string
  name: string
  version: string
  externalReferences?: { type: string; url: string }[]
}
type Bom = {
  serialNumber: string
  metadata: { timestamp?: string; component: Component }
  components: Component[]
  dependencies: { ref: string; dependsOn?: string[] }[]
}
type Locked = { version?: string; dev?: boolean }

const root = join(import.meta.dirname, '..')
const lock = readFileSync(join(root, 'package-lock.json'), 'utf8')
const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const file = resolve(process.argv[2] ?? `forge-${version}.cdx.json`)
writeFileSync(file, `${JSON.stringify(stable(installedOf(read())), null, 2)}\n`)
process.stdout.write(`${file}\n`)

/** From the lock file, so that it names the packages of every platform and nothing that this machine added. */
function read(): Bom {
  const words = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only']
  const { status, stdout, stderr, error } = spawnSync('npm', words, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (status !== 0 || error) throw new Error(`npm sbom failed: ${error?.message ?? stderr.trim()}`)
  return JSON.parse(stdout)
}

/** Without packages for development. (`npm sbom --omit=dev` also omits packages that Forge and its tests share.) */
function installedOf({ components, dependencies, ...bom }: Bom): Bom {
  const { packages } = JSON.parse(lock) as { packages: Record<string, Locked> }
  const installed = new Set(
    Object.entries(packages).flatMap(([path, locked]) =>
      locked.dev === true ? [] : [`${path.split('node_modules/').at(-1)}@${locked.version}`],
    ),
  )
  const kept = components.filter(one => installed.has(`${one.name}@${one.version}`))
  const refs = new Set([bom.metadata.component, ...kept].map(one => one['bom-ref']))
  return {
    ...bom,
    components: kept,
    dependencies: dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(on => refs.has(on)) })),
  }
}

/** The same document for the same lock file, wherever it is written: npm adds the time, the folder and its registry. */
function stable({ metadata, components, ...bom }: Bom): Bom {
  const { timestamp: _, ...told } = metadata
  return {
    ...bom,
    serialNumber: `urn:uuid:${v5(lock, v5.URL)}`,
    metadata: { ...told, component: { ...metadata.component, name } },
    components: components.map(component => ({
      ...component,
      externalReferences: (component.externalReferences ?? []).filter(
        ({ type }) => type !== 'distribution',
      ),
    })),
  }
}
