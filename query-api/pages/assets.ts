import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

export type Asset = {
  type: string
  etag: string
  bytes: Buffer
  /** The file compressed with gzip, if that is smaller. */
  gzipped: Buffer | null
}

/** The files of the console, held in memory: a newer build may remove the folder under a running server. */
export type Assets = { page: Asset; byName: ReadonlyMap<string, Asset> }

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.woff2': 'font/woff2',
}

/** Reads `index.html` and `assets/` of a built console, which is served under this path. */
export function readAssets(folder: string, basePath = ''): Assets {
  const names = readdirSync(join(folder, 'assets')).filter(name => !name.endsWith('.gz'))
  return {
    page: pageAt(join(folder, 'index.html'), basePath),
    byName: new Map(names.map(name => [name, assetAt(join(folder, 'assets', name))])),
  }
}

/** The page is the same for every path, so that it needs the whole paths of its assets. */
function pageAt(path: string, basePath: string): Asset {
  const html = readFileSync(path, 'utf8')
    .replaceAll('"./assets/', `"${basePath}/assets/`)
    .replace('name="base-path" content=""', `name="base-path" content="${basePath}"`)
  const bytes = Buffer.from(html)
  return { ...assetOf(path, bytes), gzipped: gzipSync(bytes) }
}

const assetAt = (path: string): Asset => assetOf(path, readFileSync(path))

function assetOf(path: string, bytes: Buffer): Asset {
  const gzipped = existsSync(`${path}.gz`) ? readFileSync(`${path}.gz`) : null
  return {
    type: types[extname(path)] ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    bytes,
    gzipped: gzipped !== null && gzipped.length < bytes.length ? gzipped : null,
  }
}
