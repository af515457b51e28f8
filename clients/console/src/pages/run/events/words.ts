import { wordsOf } from '../../../words/words.ts'

export const words = wordsOf({
  title: ['Events', '事件'],
  none: ['No events yet.', '还没有事件。'],
  noneFound: ['No event contains that.', '没有匹配的事件。'],
  filter: ['Filter, e.g. queued', '筛选，例如 queued'],
  was: ['The run at that point', '当时的状态'],
  slider: ['Show after event', '在哪个事件之后'],
  now: ['Now', '当前'],
  last: ['After the last event loaded', '最后一个已读取的事件之后'],
  after: [
    (nth: number, count: number) => `After event ${nth} of ${count}`,
    (nth: number, count: number) => `第 ${nth} 个事件之后，共 ${count} 个`,
  ],
  unknown: [
    'The event in this address is not among those loaded.',
    '该地址的事件不在已读取的范围内。',
  ],
  state: ['State', '状态'],
  since: ['since', '自'],
  attempt: ['Attempt', '尝试'],
  name: ['Name', '名称'],
  tags: ['Tags', '标签'],
  priority: ['Priority', '优先级'],
  place: ['Place', '位置'],
  deadline: ['Deadline', '结束期限'],
  exitCode: ['Exit code', '退出码'],
  openAlerts: ['Open alerts', '未解除告警'],
  artifacts: ['Artifacts', '产物'],
  deleted: ['deleted', '已删除'],
})
