import { writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { root, type Source, sources } from './sources.ts'

/** A list of slices as a file: `export { name } from './its/file.ts'` for each exported name that matches `named` in `files`. */
export type SliceList = { list: string; files: RegExp; named: RegExp; heading: string }

/** `npm run lists` writes them from the folders, because types of events, tables and addresses come from them. */
export const sliceLists: Record<string, SliceList> = {
  'aggregate and its events': {
    list: 'events/aggregates.ts',
    files: /^events\/[\w-]+\.ts$/,
    named: /^export const (\w+) = aggregate\(/gm,
    heading: 'Every aggregate; `all.ts` puts them together.',
  },
  'slice of the write side': {
    list: 'command-api/slices.ts',
    files: /^command-api\/[\w-]+\/slice\.ts$/,
    named: /^export const (\w+): Slice\b/gm,
    heading: 'Every slice of the write side; `compose.ts` puts them together.',
  },
  'slice with read models': {
    list: 'projector/slices.ts',
    files: /^projector\/[\w-]+\/slice\.ts$/,
    named: /^export const (\w+): Slice\b/gm,
    heading: 'Every slice with read models; `compose.ts` puts them together.',
  },
  'slice of the read side': {
    list: 'query-api/slices.ts',
    files: /^query-api\/[\w-]+\/slice\.ts$/,
    named: /^export const (\w+): Slice\b/gm,
    heading: 'Every slice of the read side; `compose.ts` puts them together.',
  },
  'slice with pages': {
    list: 'clients/console/src/pages/slices.ts',
    files: /^clients\/console\/src\/pages\/[\w-]+\/slice\.ts$/,
    named: /^export const (\w+) = /gm,
    heading: 'Every slice with pages; `all.ts` puts them together.',
  },
}

/** What the file of a list must contain. */
export function contentOf({ list, files, named, heading }: SliceList, among: readonly Source[]) {
  const lines = among
    .filter(({ file }) => files.test(file))
    .sort((a, b) => (a.file < b.file ? -1 : 1))
    .flatMap(({ file, code }) => {
      const names = [...code.matchAll(named)].map(([, name]) => name).sort()
      const path = relative(join(list, '..'), file)
      return names.length === 0 ? [] : [`export { ${names.join(', ')} } from './${path}'`]
    })
  return [`/** ${heading} Written by \`npm run lists\`. */`, ...lines, ''].join('\n')
}

if (import.meta.main)
  for (const row of Object.values(sliceLists)) {
    const content = contentOf(row, sources)
    writeFileSync(join(root, row.list), content)
    process.stdout.write(`${basename(row.list)}: ${content.split('\n').length - 2} lines\n`)
  }
