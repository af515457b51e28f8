import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import type { ChangeTables } from '../../projector/changes/table.ts'
import { streamQuery } from '../../schemas/streams.ts'
import { Invalid } from '../../schemas/validate.ts'
import { type AccessTables, findRun } from '../access.ts'
import { newestChange } from '../newest-change.ts'
import type { Reads } from '../reads.ts'
import { cursorOf, type OpenStream } from '../sse.ts'
import { changesFor, changesOfRuns } from './feed.ts'

export type ChangeDeps = { reads: Reads<ChangeTables & AccessTables>; openStream: OpenStream }

const maxTopics = 50

export const changeRoutes = ({ reads, openStream }: ChangeDeps): Route[] => [
  route({
    method: 'GET',
    path: '/api/stream',
    credential: 'person',
    reach: 'its_people',
    tag: 'runs',
    summary: 'Follow the states of runs (server-sent events `state`)',
    query: streamQuery,
    response: {
      mediaType: 'text/event-stream',
      description: 'Events `state`; of a single run, last, `eof`',
    },
    refusals: ['not_found', 'rate_limited'],
    async handle({ caller, query, ctx }) {
      const { all, ids } = parseTopics(query.topics)
      const runIds = await readableRuns(reads, caller, ids)
      // The history of a few runs is short and sent whole; the one of all runs is not, so it starts now.
      const start = all ? await newestChange(reads.as(caller)) : 0
      await openStream(ctx, caller, {
        feed: all ? changesFor(reads, caller) : changesOfRuns(reads.shared(runIds), runIds),
        from: cursorOf(ctx, query.after) ?? { at: start, ended: false },
        check: () => readableRuns(reads, caller, runIds),
      })
    },
  }),
]

async function readableRuns(
  reads: Reads<AccessTables>,
  caller: Person,
  ids: readonly string[],
): Promise<string[]> {
  const runs = await Promise.all(ids.map(id => findRun(reads, caller, id, 'job')))
  return runs.map(run => run.run_id)
}

function parseTopics(text: string): { all: boolean; ids: string[] } {
  const topics = [...new Set(text.split(',').map(topic => topic.trim()))]
  const ids = topics.flatMap(topic => /^job:(.{1,128})$/.exec(topic)?.[1] ?? [])
  const all = topics.includes('jobs')
  if (topics.length !== ids.length + (all ? 1 : 0) || topics.length > maxTopics)
    throw new Invalid([
      {
        loc: ['query', 'topics'],
        msg: `Input should be up to ${maxTopics} of 'jobs' and 'job:<run_id>', separated by commas`,
        type: 'value_error',
        input: text.slice(0, 300),
      },
    ])
  return { all, ids }
}
