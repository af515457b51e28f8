import type { Reads } from '../reading/reads.ts'
import { type Topic, topicOfOwnRows } from '../sse/topic.ts'
import { type Tables, toPush } from './routes.ts'

/** `hub-pushes`: all that the caller may see, whenever one changes. */
export const pushTopic = (reads: Reads<Tables>): Topic =>
  topicOfOwnRows({ name: 'hub-pushes', reads, table: 'hub_pushes', content: toPush })
