import type { Context } from 'koa'
import { type Route, route } from '../../auth/route.ts'
import { streamQuery } from '../../schemas/streams.ts'
import { Invalid } from '../../schemas/validate.ts'
import { type Cursor, cursorOf, type OpenStream } from '../sse/sse.ts'
import type { OpenedTopic, Topic } from '../sse/topic.ts'

export type StreamRouteDeps = { topics: readonly Topic[]; openStream: OpenStream }

const maxTopics = 50

export const streamRoutes = ({ topics, openStream }: StreamRouteDeps): Route[] => [
  route({
    method: 'GET',
    path: '/api/stream',
    credential: 'person',
    reach: 'its_people',
    tag: 'runs',
    summary: 'Follow several topics in one stream of server-sent events',
    query: streamQuery,
    response: {
      mediaType: 'text/event-stream',
      description: 'The events of each topic; of a single run, last, `eof`',
    },
    refusals: ['not_found', 'rate_limited'],
    async handle({ caller, query, ctx }) {
      const asked = assign(topics, query.topics)
      const opened = await Promise.all(asked.map(({ topic, names }) => topic.open(caller, names)))
      await openStream(ctx, caller, {
        feeds: opened.map(({ feed }) => feed),
        from: startOf(ctx, query.after, opened),
        check: () => Promise.all(opened.map(({ check }) => check())),
      })
    },
  }),
]

type Asked = { topic: Topic; names: string[] }

/** Sorts the names by the topic that serves them, in the order of the list, because cursors have that order. */
function assign(topics: readonly Topic[], text: string): Asked[] {
  const names = [...new Set(text.split(',').map(name => name.trim()))]
  const asked = topics
    .map(topic => ({ topic, names: names.filter(name => topic.pattern.test(name)) }))
    .filter(({ names: served }) => served.length > 0)
  const served = asked.reduce((sum, { names: own }) => sum + own.length, 0)
  if (served === names.length && names.length <= maxTopics) return asked
  const known = topics.map(({ shape }) => shape).join(', ')
  throw new Invalid([
    {
      loc: ['query', 'topics'],
      msg: `Input should be up to ${maxTopics} of ${known}, separated by commas`,
      type: 'value_error',
      input: text.slice(0, 300),
    },
  ])
}

/** A topic that the cursor does not cover starts where it would without one. */
function startOf(ctx: Context, after: string | undefined, opened: readonly OpenedTopic[]): Cursor {
  const cursor = cursorOf(ctx, after)
  const at = opened.map(({ start }, nth) => cursor?.at[nth] ?? start)
  return { at, ended: cursor?.ended ?? false }
}
