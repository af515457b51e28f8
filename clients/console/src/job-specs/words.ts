import { wordsOf } from '../words/words.ts'

export const words = wordsOf({
  changes: [(run: string) => `Differences from ${run}`, (run: string) => `与 ${run} 的差异`],
  same: ['No differences yet.', '尚无差异。'],
  path: ['Field', '项'],
  before: ['Original', '原值'],
  after: ['This job', '现值'],
})
