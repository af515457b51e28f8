import { wordsOf } from '../../words/words.ts'

export const words = wordsOf({
  title: ['Playground', '试用'],
  none: ['No deployment has a revision that could respond.', '没有可用的部署修订。'],
  left: ['Left model', '左侧模型'],
  right: ['Right model', '右侧模型'],
  nothing: ['none', '无'],
  of: [
    (name: string, n: number) => `${name}, revision ${n}`,
    (name: string, n: number) => `${name}，修订 ${n}`,
  ],
  prompt: ['Prompt', '提示'],
  promptHint: ['The same for both, with the same seed.', '两侧使用相同的提示和种子。'],
  seed: ['Seed', '种子'],
  maxTokens: ['Tokens at most', '最多词元数'],
  temperature: ['Temperature', '温度'],
  send: ['Send', '发送'],
  clear: ['Start over', '重新开始'],
  fromSample: ['From a validation sample', '取自验证样本'],
  run: ['Run', '运行'],
  noSamples: ['This run has no samples.', '该运行没有样本。'],
  choose: ['Take it', '使用'],
  starting: ['Its engine is starting.', '引擎正在启动。'],
  expires: [(left: string) => `expires in ${left}`, (left: string) => `${left} 后过期`],
  over: ['The session is over. Choose the model again.', '会话已结束，请重新选择模型。'],
  figures: [
    (ttft: string, rate: string) => `first token ${ttft} ms · ${rate} tokens/s`,
    (ttft: string, rate: string) => `首词元 ${ttft} ms · ${rate} 词元/秒`,
  ],
  noReply: ['No reply', '无回复'],
  reply: [(name: string) => `Reply of ${name}`, (name: string) => `${name} 的回复`],
})
