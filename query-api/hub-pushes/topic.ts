import type { Reads } from '../reading/reads.ts'
import { type Topic, topicOfOwnRows } from '../sse/topic.ts'
import { type Tables, toPush } from './routes.ts'

/** `hub-pushes`: the pushes that the caller may see, whenever one changes. */
export const pushTopic = (reads: Reads<Tables>): Topic =>
  topicOfOwnRows({
    name: 'hub-pushes',
    rowsAfter: (caller, after, most) =>
      reads
        .as(caller)
        .selectFrom('hub_pushes')
        .selectAll()
        .where('change', '>', after)
        .orderBy('change')
        .limit(most)
        .execute(),
    async newest(caller) {
      const found = reads.as(caller).selectFrom('hub_pushes')
      const row = await found.select(eb => eb.fn.max('change').as('change')).executeTakeFirst()
      return row?.change ?? 0
    },
    content: toPush,
  })
