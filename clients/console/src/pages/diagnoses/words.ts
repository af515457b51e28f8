import { wordsOf } from '../../words/words.ts'

export const words = wordsOf({
  title: ['Failures', '失败'],
  about: [
    'Failed runs grouped by diagnosis, most frequent first. Each run counts once.',
    '按诊断分组的失败运行，最频繁的在前。每个运行只计一次。',
  ],
  window: ['Period', '时段'],
  lastDays: [(n: number) => `Last ${n} days`, (n: number) => `最近 ${n} 天`],
  project: ['Project', '项目'],
  allProjects: ['All projects', '所有项目'],
  owner: ['Owner', '所有者'],
  everybody: ['Everybody', '所有人'],
  mine: ['Mine', '我的'],
  category: ['Category', '类别'],
  allCategories: ['All categories', '所有类别'],
  none: ['No run failed in this period.', '该时段内没有失败的运行。'],
  noneFound: ['No failure matches these filters.', '没有符合筛选条件的失败。'],
  failure: ['Failure', '失败原因'],
  cause: ['Cause', '责任方'],
  daily: ['Per day', '每日'],
  dailyOf: [
    (total: number, days: number, most: number, day: string) =>
      `${total} in ${days} days, at most ${most} a day, on ${day}`,
    (total: number, days: number, most: number, day: string) =>
      `${days} 天内 ${total} 次，单日最多 ${most} 次（${day}）`,
  ],
  noneIn: [(days: number) => `None in ${days} days`, (days: number) => `${days} 天内没有`],
  count: ['Runs', '运行'],
  trend: ['Trend', '趋势'],
  new: ['new', '新出现'],
  newLong: ['new, not seen before', '新出现，此前未见'],
  up: [
    (before: number) => `up from ${before} in the previous period`,
    (before: number) => `上升，前一时段 ${before} 次`,
  ],
  down: [
    (before: number) => `down from ${before} in the previous period`,
    (before: number) => `下降，前一时段 ${before} 次`,
  ],
  same: ['unchanged from the previous period', '与前一时段相同'],
  affected: ['Affected', '影响范围'],
  projects: [
    (n: number) => (n === 1 ? '1 project' : `${n} projects`),
    (n: number) => `${n} 个项目`,
  ],
  owners: [(n: number) => (n === 1 ? '1 owner' : `${n} owners`), (n: number) => `${n} 位所有者`],
  first: ['First seen', '首次出现'],
  last: ['Last seen', '最近出现'],
  runs: ['Newest runs', '最新运行'],
})
