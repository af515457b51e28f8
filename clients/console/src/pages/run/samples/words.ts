import { wordsOf } from '../../../words/words.ts'

export const words = wordsOf({
  title: ['Samples', '样本'],
  none: ['No samples yet. Report some:', '还没有样本。上报示例：'],
  rounds: ['Rounds', '轮次'],
  noneFound: ['No sample has a reward in this range.', '没有对应奖励的样本。'],
  step: [(step: number) => `Step ${step}`, (step: number) => `第 ${step} 步`],
  samples: [(n: number) => `${n} samples`, (n: number) => `${n} 个样本`],
  chunks: [
    (n: number, all: number) => `${n} of ${all} parts have arrived`,
    (n: number, all: number) => `已收到 ${n}/${all} 部分`,
  ],
  mean: ['mean reward', '平均奖励'],
  accuracy: ['accuracy', '准确率'],
  sort: ['Order', '排序'],
  byIndex: ['As sent', '发送顺序'],
  best: ['Best first', '最好优先'],
  worst: ['Worst first', '最差优先'],
  rewards: ['Rewards: select a bar to see its samples', '奖励分布：点选柱子筛选'],
  allRewards: ['All rewards', '全部奖励'],
  prompt: ['Prompt', '提示'],
  answer: ['Answer', '回答'],
  reward: ['reward', '奖励'],
  compare: ['Compare with …', '对比…'],
  reference: ['The reference', '参考答案'],
  through: ['Reward by step:', '各步奖励：'],
  extra: ['Other reported values', '其他上报内容'],
})
