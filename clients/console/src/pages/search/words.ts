import type { FoundType } from '../../../../../schemas/found.ts'
import { wordsOf } from '../../words/words.ts'

export const words = wordsOf({
  title: ['Search', '搜索'],
  about: [
    'Words, owner:ada, project:demo, state:failed, after:2026-11-01. Metrics and hyperparameters find runs alone.',
    '可用词语、owner:ada、project:demo、state:failed、after:2026-11-01。指标与超参数条件只匹配运行。',
  ],
  label: ['Search in everything', '全局搜索'],
  none: ['Nothing matches.', '没有匹配的结果。'],
  all: [(count: string) => `All ${count}`, (count: string) => `全部 ${count} 项`],
  everything: ['Everything', '全部类型'],
  after: ['Next 50', '后 50 项'],
  before: ['Previous 50', '前 50 项'],
  name: ['Name', '名称'],
  owner: ['Owner', '所有者'],
  project: ['Project', '项目'],
  state: ['State', '状态'],
  created: ['Created', '创建时间'],
})

/** The types in the plural, as headings. */
export const typeWords = wordsOf({
  run: ['Runs', '运行'],
  model: ['Models', '模型'],
  deployment: ['Deployments', '部署'],
  dataset: ['Datasets', '数据集'],
  environment: ['RL environments', '强化学习环境'],
  rubric: ['Rubrics', '评分标准'],
  artifact: ['Artifacts', '产物'],
  diagnosis: ['Diagnoses', '诊断'],
  person: ['People', '用户'],
} satisfies Record<FoundType, readonly [string, string]>)
