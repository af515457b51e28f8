import { wordsOf } from '../../words/words.ts'

export const words = wordsOf({
  title: ['Projects', '项目'],
  none: [
    'No projects yet. The first run of a project creates it:',
    '还没有项目。项目会随其第一个运行自动创建：',
  ],
  name: ['Name', '名称'],
  owner: ['Owner', '所有者'],
  runs: ['Runs', '运行'],
  created: ['Created', '创建于'],
  notes: ['Notes', '备注'],
  visibility: ['Visible to', '可见范围'],
  private: ['members', '成员'],
  internal: ['everybody', '所有人'],
  noRuns: ['This project has no runs yet. Report to it:', '此项目还没有运行。向其上报：'],
  noneFound: ['No run matches.', '没有匹配的运行。'],
  noneShown: ['No run is shown. Choose some from the list.', '未显示任何运行，请从列表中选择。'],
  noMetrics: ['The shown runs have no metrics yet.', '所显示的运行还没有指标。'],
  search: ['Search the runs of this project', '搜索此项目的运行'],
  searchHint: ['e.g. state:failed loss<1.2', '例如 state:failed loss<1.2'],
  shownOf: [
    (shown: number, of: number, isMore: boolean) =>
      `${shown} of ${isMore ? 'more than ' : ''}${of} runs shown`,
    (shown: number, of: number, isMore: boolean) =>
      `显示 ${shown} / ${isMore ? '超过 ' : ''}${of} 个运行`,
  ],
  show: [(name: string) => `Show ${name}`, (name: string) => `显示 ${name}`],
  newest: ['Newest 10', '最新 10 个'],
  all: ['All', '全部'],
  noneAll: ['None', '无'],
  onlyNewest: [
    (n: number) => `The newest ${n} are listed; a search finds others.`,
    (n: number) => `仅列出最新 ${n} 个，其余请搜索。`,
  ],
  curves: ['Curves', '曲线'],
  list: ['Runs of the project', '项目的运行'],
  compare: ['Compare', '比较'],
  table: ['As a table', '以表格查看'],
})
