import type { Static } from 'typebox'
import type { volumeFiles as files } from '../../../schemas/volumes.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { countOf, sayMore, showRows } from '../program/list.ts'
import { type CommonOptions, openSignedIn, type Texts, type World } from '../program/session.ts'
import { size } from '../terminal/amounts.ts'
import { oneVolume, pathOfVolume } from './named.ts'

type Page = Static<typeof files>
type Entry = Page['entries'][number]

export const describeVolumeFiles = describe({
  text: 'the files in a folder of a volume, by name',
  operands: { ...oneVolume, '[path]': 'a folder; the whole volume if absent' },
  options: { '--limit <n>': 'how many (default 100)' },
})

const pageSize = 500

export async function volumeFiles(
  world: World,
  named: string,
  inside: string | undefined,
  { limit = '100', ...options }: CommonOptions & Texts<'limit'>,
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const { api } = session
  const wanted = countOf(limit)
  const path = `${await pathOfVolume(api, named)}/files`
  const entries: Entry[] = []
  let after: string | null = ''
  while (after !== null && entries.length < wanted) {
    const page: Page = await api.get<Page>(path, {
      path: inside,
      after: after || undefined,
      limit: Math.min(pageSize, wanted - entries.length),
    })
    entries.push(...page.entries)
    after = page.next
  }
  showRows(session, entries, {
    columns: [
      {
        title: 'NAME',
        cell: one => (one.kind === 'folder' ? `${one.name}/` : one.name),
        shrinks: true,
      },
      { title: 'KIND', cell: one => one.kind },
      {
        title: 'SIZE',
        cell: one => (one.kind === 'file' ? size(one.size_bytes) : '-'),
        align: 'right',
      },
      { title: 'CHANGED', cell: one => one.modified_at, drops: true },
    ],
    none: 'No files',
    isJsonByLine: true,
  })
  if (after !== null) sayMore(session, entries.length)
  return exitCode.ok
}
