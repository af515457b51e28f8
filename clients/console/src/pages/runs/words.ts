import { wordsOf } from '../../words/words.ts'

const runsOf = (n: number) => (n === 1 ? '1 run' : `${n.toLocaleString('en')} runs`)

export const words = wordsOf({
  title: ['Runs', '运行'],
  count: [
    (n: number, isAll: boolean) => (isAll ? runsOf(n) : 'more than 10,000 runs'),
    (n: number, isAll: boolean) =>
      isAll ? `${n.toLocaleString('zh')} 个运行` : '超过 10,000 个运行',
  ],
  none: ['No runs yet. Start one from your own code:', '还没有运行。从您自己的代码开始：'],
  noneFound: ['No run matches these conditions.', '没有符合条件的运行。'],
  search: ['Search', '搜索'],
  searchHint: [
    'state:failed owner:ada loss<0.7 hparams.lr>=1e-4 tag:sweep',
    'state:failed owner:ada loss<0.7 hparams.lr>=1e-4 tag:sweep',
  ],
  completions: ['Completions', '补全'],
  findNames: ['Find a metric or hyperparameter', '查找指标或超参数'],
  noNames: ['The newest runs have no others.', '最近的运行中没有其他匹配项。'],
  of: ['Value of metrics', '指标取值'],
  last: ['last', '最后'],
  min: ['min', '最小'],
  max: ['max', '最大'],
  byProject: ['Group by project', '按项目分组'],
  chooseAll: ['Select all rows loaded so far', '选择已加载的所有行'],
  remove: [(name: string) => `Remove ${name}`, (name: string) => `移除 ${name}`],
  views: ['Views', '视图'],
  saveView: ['Save this view', '保存当前视图'],
  viewName: ['Name of the view', '视图名称'],
  noViews: ['None saved yet', '尚未保存'],
  chosen: [(n: number) => `${n} selected`, (n: number) => `已选 ${n} 个`],
  clear: ['Clear selection', '取消选择'],
  compare: ['Compare', '比较'],
  compareFew: ['Select 2 to 20 runs', '请选择 2 到 20 个运行'],
  stop: ['Stop', '停止'],
  stopAll: [
    (n: number) =>
      `Stop ${n === 1 ? 'this run' : `these ${n} runs`}? Runs that have ended are not affected.`,
    (n: number) => `停止以下 ${n} 个运行？已结束的保持不变。`,
  ],
  andMore: [(n: number) => `and ${n} more`, (n: number) => `以及另外 ${n} 个`],
  chooseSome: ['Select runs first', '请先选择运行'],
  allOver: ['All of them have ended', '全部已结束'],
  tag: ['Tag', '打标签'],
  tagName: ['Tag', '标签'],
  done: [(n: number) => `Done for ${n}`, (n: number) => `已完成 ${n} 个`],
  starRun: [(id: string) => `Star ${id}`, (id: string) => `为 ${id} 加星标`],
  star: ['Star', '加星标'],
  unstar: ['Remove star', '取消星标'],
  archive: ['Archive', '归档'],
  unarchive: ['Take out of the archive', '移出归档'],
  starredDone: [(n: number) => `${runsOf(n)} starred`, (n: number) => `已为 ${n} 个运行加星标`],
  unstarredDone: [
    (n: number) => `${runsOf(n)} without a star again`,
    (n: number) => `已取消 ${n} 个运行的星标`,
  ],
  archivedDone: [(n: number) => `${runsOf(n)} archived`, (n: number) => `已归档 ${n} 个运行`],
  unarchivedDone: [
    (n: number) => `${runsOf(n)} taken out of the archive`,
    (n: number) => `已将 ${n} 个运行移出归档`,
  ],
  undo: ['Undo', '撤销'],
  onlyStarred: ['Starred', '星标'],
  onlyArchived: ['Archived', '已归档'],
  chooseRun: [(id: string) => `Select ${id}`, (id: string) => `选择 ${id}`],
})
