import { wordsOf } from '../../words/words.ts'

export const words = wordsOf({
  title: ['Rubrics', '评分标准'],
  new: ['New rubric', '新建评分标准'],
  none: [
    'No rubrics yet. Write one here, or through the API:',
    '还没有评分标准。在此新建，或通过 API：',
  ],
  name: ['Name', '名称'],
  description: ['Description', '说明'],
  criteria: ['Criteria', '评分项'],
  criterion: ['Criterion', '评分项'],
  weight: ['Weight', '权重'],
  version: ['Version', '版本'],
  versionOf: [
    (n: number) =>
      `Version ${n}. A change creates the next one, and retires the scores of this one.`,
    (n: number) => `版本 ${n}。修改会生成新版本，并使该版本的评分失效。`,
  ],
  visibility: ['Who sees it', '可见性'],
  private: ['only its owner', '仅所有者'],
  public: ['everybody', '所有人'],
  updated: ['Changed', '修改于'],
  least: ['Lowest score', '最低分'],
  most: ['Highest score', '最高分'],
  save: ['Save', '保存'],
  notYours: ['Only its owner may change it', '只有所有者可以修改'],
  remove: ['Remove', '移除'],
  add: ['Add a criterion', '添加评分项'],
  oneAtLeast: ['A rubric has at least one', '至少需要一项'],
  test: ['Test', '试评'],
  testSays: [
    (n: number) =>
      `A deployment scores the first ${n} samples of a run by this form. Nothing is stored.`,
    (n: number) => `由一个部署按此表单为运行的前 ${n} 个样本评分，不保存任何内容。`,
  ],
  run: ['Run', '运行'],
  judge: ['Deployment that judges', '担任评判的部署'],
  noJudge: ['No deployment is ready', '没有就绪的部署'],
  noRun: ['Name a run with validation samples', '请填写有验证样本的运行'],
  answer: ['Response', '回答'],
  score: ['Score', '分数'],
  reason: ['Reason', '理由'],
  enough: ['A rubric has at most 20', '最多 20 项'],
})
