import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { compiled } from './compiled.ts'

const root = join(import.meta.dirname, '../..')
const folder = join(compiled, '../bundled')
const { NODE_ENV } = process.env

/** Packages of hundreds of small modules, which import nothing but each other. */
export const bundledPackages = ['typebox', 'kysely']

/** The folder of an installed package. */
export const packageFolder = (name: string): string => join(root, 'node_modules', name)

/** The file that holds all modules of the installed version of a package. It may be missing. */
export function bundleOf(name: string): string {
  const text = readFileSync(join(packageFolder(name), 'package.json'), 'utf8')
  return join(folder, `${name}-${JSON.parse(text).version}.mjs`)
}

/** Safe for several processes at once. */
export async function makeBundle(name: string): Promise<void> {
  const { build } = await import('vite')
  await mkdir(folder, { recursive: true })
  const made = await mkdtemp(join(folder, '.making-'))
  try {
    await build({
      configFile: false,
      logLevel: 'warn',
      root,
      publicDir: false,
      ssr: { noExternal: true },
      build: {
        ssr: true,
        minify: false,
        target: 'node20',
        outDir: made,
        rolldownOptions: { input: { bundle: name }, output: { entryFileNames: '[name].mjs' } },
      },
    })
    await rename(join(made, 'bundle.mjs'), bundleOf(name))
  } finally {
    // Vite sets it to production, and every process that the run starts would inherit that: npm leaves packages out then.
    if (NODE_ENV === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = NODE_ENV
    await rm(made, { recursive: true, force: true })
  }
}
