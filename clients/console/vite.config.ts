import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import type { Plugin, Rolldown, UserConfig } from 'vite'

/** The server that receives the API requests of `npm run dev`. */
const server = process.env.FORGE_HOST ?? 'http://127.0.0.1:8080'

/** Fetches the console and its typeface along with the small script that finds out who is signed in and then starts it. */
const preloadStart: Plugin = {
  name: 'preload-start',
  transformIndexHtml: {
    order: 'post',
    handler(page, { bundle = {} }) {
      const chunks = Object.values(bundle).filter(one => one.type === 'chunk')
      const start = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith('/start.tsx'))
      const wanted = start ? [start.fileName, ...start.imports] : []
      const styles = chunks
        .filter(({ fileName }) => wanted.includes(fileName))
        .flatMap(({ viteMetadata }) => [...(viteMetadata?.importedCss ?? [])])
      const typeface = Object.keys(bundle).filter(file => file.includes('geist-latin-wght-normal'))
      const tags = [
        // Other scripts are fetched when a page has such text.
        ...typeface.map(file => ({
          tag: 'link',
          attrs: {
            ...{ rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: true },
            href: `./${file}`,
          },
        })),
        ...wanted.map(file => ({
          tag: 'link',
          attrs: { rel: 'modulepreload', crossorigin: true, href: `./${file}` },
        })),
        ...[...new Set(styles)].map(file => ({
          tag: 'link',
          attrs: { rel: 'stylesheet', crossorigin: true, href: `./${file}` },
        })),
      ]
      // It needs nothing from the page, and waits neither for its end nor for styles.
      return { html: page.replace('<script type="module"', '<script type="module" async'), tags }
    },
  },
}

const source = (file: string) => join(import.meta.dirname, 'src', file)

/**
 * What every page needs, in three files: fifty small ones would compress to 14 kB more. Libraries are separate because
 * they change less often than the console. A file takes no module of an earlier one.
 */
const filesOfAllPages = [
  { name: 'session', holds: () => true, root: 'main.ts' },
  { name: 'libraries', holds: (id: string) => id.includes('node_modules'), root: 'start.tsx' },
  { name: 'frame', holds: () => true, root: 'start.tsx' },
].map(({ name, holds, root }, nth, all) => ({
  name: (id: string, modules: Rolldown.ChunkingContext) =>
    id !== source('main.ts') && holds(id) && importedBy(source(root), modules).has(id)
      ? name
      : null,
  priority: all.length - nth + 2,
}))

/** What many pages need is in one more file, which compresses better than forty small ones. */
const fewestPages = 8
const fileOfManyPages = {
  name: (id: string, modules: Rolldown.ChunkingContext) =>
    id.startsWith(source('')) &&
    pagesIn(modules).filter(page => importedBy(page, modules).has(id)).length >= fewestPages
      ? 'parts'
      : null,
  priority: 2,
}

const chart = source('charts/chart.tsx')
/** Several pages have charts, and with them all of their code: a file, and before it one for the parts that other pages use too. */
const filesOfCharts = [
  { name: 'chart-parts', isWhole: false },
  { name: 'charts', isWhole: true },
].map(({ name, isWhole }, nth) => ({
  name: (id: string, modules: Rolldown.ChunkingContext) => {
    if (!importedBy(chart, modules).has(id)) return null
    const users = pagesIn(modules)
      .map(page => importedBy(page, modules))
      .filter(of => of.has(id))
    return isWhole || !users.every(of => of.has(chart)) ? name : null
  },
  priority: 1 - nth,
}))

const isPage = (id: string) => id.startsWith(source('pages/')) && id.endsWith('page.tsx')
let pages: readonly string[] | null = null

function pagesIn(modules: Rolldown.ChunkingContext): readonly string[] {
  pages ??= [...importedBy(source('start.tsx'), modules)]
    .flatMap(id => modules.getModuleInfo(id)?.dynamicallyImportedIds ?? [])
    .filter(isPage)
  return pages
}

const imported = new Map<string, Set<string>>()

/** A module and everything that runs before it. */
function importedBy(id: string, modules: Rolldown.ChunkingContext): Set<string> {
  const known = imported.get(id)
  if (known) return known
  const found = new Set([id])
  // The set grows while it is walked.
  for (const one of found)
    for (const next of modules.getModuleInfo(one)?.importedIds ?? []) found.add(next)
  imported.set(id, found)
  return found
}

export default {
  root: import.meta.dirname,
  // Scripts find each other; the server completes the addresses in the page, which has no path of its own.
  base: './',
  plugins: [react(), preloadStart],
  // The server refuses pages of another host than it was asked by.
  server: {
    proxy: Object.fromEntries(
      ['/api', '/inference', '/healthz'].map(path => [
        path,
        { target: server, changeOrigin: false },
      ]),
    ),
  },
  build: {
    target: 'es2022',
    // Assets must have their own address: the policy of the pages allows `data:` for images alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // The first load contains the names of all files, whose hashes do not compress.
        chunkFileNames: 'assets/[name]-[hash:7].js',
        assetFileNames: 'assets/[name]-[hash:7][extname]',
        codeSplitting: { groups: [...filesOfAllPages, fileOfManyPages, ...filesOfCharts] },
      },
    },
  },
} satisfies UserConfig
