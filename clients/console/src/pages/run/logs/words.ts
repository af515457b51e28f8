import { wordsOf } from '../../../words/words.ts'

export const words = wordsOf({
  log: ['Log', '日志'],
  search: ['Search the log', '搜索日志'],
  rank: ['Rank', 'Rank'],
  node: ['Node', '节点'],
  stream: ['Stream', '流'],
  find: ['Find', '查找'],
  wrap: ['Wrap', '换行'],
  times: ['Times', '时间'],
  download: ['Download', '下载'],
  none: ['Nothing was written yet.', '还没有输出。'],
  noneFound: ['No line meets this.', '没有匹配的行。'],
  hits: [
    (n: number, isAll: boolean) => `${n === 1 ? '1 line' : `${n} lines`}${isAll ? '' : ' so far'}`,
    (n: number, isAll: boolean) => (isAll ? `${n} 行` : `目前 ${n} 行`),
  ],
  more: ['Search on', '继续搜索'],
  follow: ['Follow', '跟随'],
  newLines: [(n: number) => `${n} new lines`, (n: number) => `${n} 行新内容`],
  earlier: ['Earlier lines', '更早的行'],
  later: ['Later lines', '更晚的行'],
  lines: [
    (n: number) => `${n.toLocaleString('en')} lines`,
    (n: number) => `${n.toLocaleString('zh')} 行`,
  ],
  line: [(seq: number) => `Line ${seq}`, (seq: number) => `第 ${seq} 行`],
})
