import type { Reads } from '../reading/reads.ts'
import { type Topic, topicOfOwnRows } from '../sse/topic.ts'
import { type Tables, toImport } from './routes.ts'

/** `hub-imports`: the imports that the caller may see, whenever one changes. */
export const importTopic = (reads: Reads<Tables>): Topic =>
  topicOfOwnRows({
    name: 'hub-imports',
    rowsAfter: (caller, after, most) =>
      reads
        .as(caller)
        .selectFrom('hub_imports')
        .selectAll()
        .where('change', '>', after)
        .orderBy('change')
        .limit(most)
        .execute(),
    async newest(caller) {
      const found = reads.as(caller).selectFrom('hub_imports')
      const row = await found.select(eb => eb.fn.max('change').as('change')).executeTakeFirst()
      return row?.change ?? 0
    },
    content: toImport,
  })
