import { wordsOf } from '../../words/words.ts'

/** The titles of columns. */
export const columnWords = wordsOf({
  columns: ['Columns', '列'],
  name: ['Run', '运行'],
  state: ['State', '状态'],
  project: ['Project', '项目'],
  owner: ['Owner', '所有者'],
  created_at: ['Created', '创建于'],
  duration_s: ['Duration', '时长'],
  best: ['Best', '最佳'],
  tags: ['Tags', '标签'],
  notes: ['Notes', '备注'],
  recipe: ['Recipe', '配方'],
  ended_at: ['Ended', '结束于'],
  points: ['Points', '数据点'],
  log_bytes: ['Log', '日志'],
})
