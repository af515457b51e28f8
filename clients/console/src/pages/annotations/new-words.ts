import { wordsOf } from '../../words/words.ts'

export const words = wordsOf({
  title: ['New annotation queue', '新建标注队列'],
  name: ['What people decide', '标注内容'],
  project: ['Project, whose members annotate', '项目（由其成员标注）'],
  noProject: [
    'A queue belongs to a project, and you can see none. A project begins with its first run.',
    '队列属于项目，而您没有可见的项目。提交第一个运行即可创建项目。',
  ],
  kind: ['What people do', '标注方式'],
  pairwise: ['Choose the better of two answers', '选出两个回答中更好的一个'],
  rubric: ['Score by a rubric', '按标准评分'],
  edit: ['Correct the text', '修改文本'],
  by: ['Rubric', '评分标准'],
  noRubric: [
    'There is no rubric that you can see; create one first.',
    '没有可见的评分标准，请先创建。',
  ],
  source: ['Items from', '项目来源'],
  samples: ['Samples of a run', '运行的样本'],
  dataset: ['Rows of a dataset', '数据集的行'],
  run: ['Run', '运行'],
  step: ['Step', '步数'],
  stepHint: ['Of one round; all rounds if left out.', '只取一轮；留空则取全部。'],
  againstRun: ['Compare with run', '对比运行'],
  againstHint: [
    'Pairs with samples of another run, another step, or both; otherwise answers to the same prompt are paired.',
    '与其他运行或其他步数的样本配对；否则同一提示的回答两两配对。',
  ],
  againstStep: ['Compare with step', '对比步数'],
  ref: ['Dataset and version', '数据集与版本'],
  refForm: ['Write it as OWNER/NAME@VERSION.', '请写成 所有者/名称@版本。'],
  split: ['Split', '划分'],
  splitHint: ['train if left out, or the only one.', '留空则为 train，或唯一的划分。'],
  overlap: ['People for each item', '每项的标注人数'],
  instructions: ['Instructions, in Markdown', '说明（Markdown）'],
  create: ['Create the queue', '创建队列'],
})
