import type { Reads } from '../reading/reads.ts'
import { type Topic, topicOfOwnRows } from '../sse/topic.ts'
import { type Tables, toImport } from './routes.ts'

/** `hub-imports`: all that the caller may see, whenever one changes. */
export const importTopic = (reads: Reads<Tables>): Topic =>
  topicOfOwnRows({ name: 'hub-imports', reads, table: 'hub_imports', content: toImport })
