import type { Found, SearchReply } from '../../../schemas/found.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { countOf } from '../program/list.ts'
import { type CommonOptions, openSignedIn, type Texts, type World } from '../program/session.ts'
import { paintState } from '../runs/follow/view.ts'
import { searchOf } from '../runs/search.ts'
import { toJson } from '../terminal/harmless.ts'
import { showTable } from '../terminal/table.ts'

type SearchOptions = CommonOptions & Texts<'type'> & { limit: string }

export const describeSearch = describe({
  text: 'search in runs, models, deployments, datasets, environments, rubrics, artifacts, diagnoses and people',
  operands: { '<search...>': 'words and conditions as of forge ps, e.g. reward owner:ada' },
  options: {
    '-t, --type <types>': 'only these, e.g. run,model',
    '-l, --limit <count>': ['at most this many of each type, up to 50', '5'],
  },
})

export async function search(
  world: World,
  words: string[],
  { type, limit, ...options }: SearchOptions,
): Promise<ExitCode> {
  const q = searchOf(words)
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const found = await api.get<SearchReply>('/api/search', { q, type, limit: countOf(limit) })
  if (isJson) terminal.data(toJson(found))
  else if (found.results.length === 0) terminal.note('Nothing matches')
  else
    showTable<Found>(
      terminal,
      [
        { title: 'TYPE', cell: row => row.type },
        { title: 'NAME', cell: row => row.name, shrinks: true },
        { title: 'REF', cell: row => row.ref, shrinks: true },
        { title: 'OWNER', cell: row => row.owner, drops: true },
        { title: 'PROJECT', cell: row => row.project ?? '', drops: true },
        {
          title: 'STATE',
          cell: row => row.state ?? '',
          paint: (text, row) => paintState(terminal.paint, row.state ?? '', text),
        },
      ],
      found.results,
    )
  const shown = (type: string) => found.results.filter(row => row.type === type).length
  const more = Object.entries(found.counts).filter(([type, count]) => count > shown(type))
  if (!isJson && more.length > 0) terminal.note(`All that match: ${more.map(inWords).join(', ')}`)
  return exitCode.ok
}

const inWords = ([type, count]: [string, number]): string =>
  `${type} ${count > 10_000 ? 'over 10,000' : count.toLocaleString('en')}`
