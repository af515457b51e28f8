import { wordsOf } from '../../words/words.ts'

export const words = wordsOf({
  project: ['project', '项目'],
  by: ['by', '所有者'],
  created: ['created', '创建于'],
  ranFor: ['ran for', '运行时长'],
  exitCode: ['exit code', '退出码'],
  phases: ['What it went through', '运行阶段'],
  billed: ['billed', '计费'],
  stop: ['Stop', '停止'],
  pause: ['Pause', '暂停'],
  resume: ['Resume', '继续'],
  retry: ['Retry', '重试'],
  clone: ['Clone', '克隆'],
  delete: ['Delete', '删除'],
  restore: ['Restore', '恢复'],
  sureStop: [
    'The code is asked to end, and may write a last checkpoint; after its grace period it is killed.',
    '会请求代码结束，它可以写入最后一个检查点；宽限期过后将被强制终止。',
  ],
  sureDelete: [
    'It disappears from lists, and can be restored for 30 days.',
    '它将从列表中消失，30 天内可以恢复。',
  ],
  notJob: ['Only jobs of Forge, not runs of other programs', '仅适用于 Forge 任务'],
  hasEnded: ['It has ended', '已结束'],
  notEnded: ['It has not ended yet', '尚未结束'],
  notRunning: ['Only while it runs', '仅在运行时可用'],
  notPaused: ['It is not paused', '未暂停'],
  deleted: ['It is deleted; restore it first', '已删除，请先恢复'],
  noTab: ['There is no such part of a run.', '没有这个页面。'],
})
