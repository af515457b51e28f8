import { wordsOf } from '../../words/words.ts'

export const words = wordsOf({
  back: ['Back to the queue', '返回队列'],
  item: [(n: number) => `Item ${n}`, (n: number) => `第 ${n} 项`],
  progress: ['Progress', '进度'],
  completedOf: [
    (done: string, all: string) => `${done} of ${all} items completed`,
    (done: string, all: string) => `已完成 ${done} / ${all} 项`,
  ],
  left: [(time: string) => `yours for ${time}`, (time: string) => `保留 ${time}`],
  ended: [
    'The 15 minutes are over. Your answer will be kept as a draft.',
    '15 分钟已过。您的回答将保存为草稿。',
  ],
  wasLate: [
    'The 15 minutes were over. Your answer is kept as a draft; look at it and send it again.',
    '15 分钟已过，回答已保存为草稿。请检查后重新提交。',
  ],
  wasTaken: [
    'The 15 minutes were over, and others have taken the item. This is the next one.',
    '15 分钟已过，该项已被他人领取。以下是下一项。',
  ],
  draft: ['Your draft', '您的草稿'],
  prompt: ['Prompt', '提示'],
  answerA: ['Answer 1', '回答 1'],
  answerB: ['Answer 2', '回答 2'],
  answer: ['Answer', '回答'],
  noPrompt: ['No prompt', '无提示'],
  better: [(n: number) => `Answer ${n} is better`, (n: number) => `回答 ${n} 更好`],
  tie: ['Neither is better', '不分上下'],
  send: ['Send', '提交'],
  incomplete: ['Score every criterion first', '请先为每项评分'],
  edit: ['Edit', '编辑'],
  corrected: ['Corrected text', '修改后的文本'],
  skip: ['Skip', '跳过'],
  undo: ['Undo', '撤销'],
  nothingToUndo: ['Nothing to undo', '没有可撤销的操作'],
  done: ['Nothing is left for you in this queue.', '此队列中没有待您处理的项。'],
  held: [
    (n: number) =>
      n === 1 ? 'Somebody else is at the last item.' : `Others are at the last ${n} items.`,
    (n: number) => `最后 ${n} 项正由他人处理。`,
  ],
  again: ['Look again', '再次查看'],
  keys: ['Keys', '快捷键'],
  keysOf: [
    (kind: 'pairwise' | 'rubric' | 'edit') =>
      ({
        pairwise: '1 or 2: that answer is better · 0: neither',
        rubric: 'digits: score the marked criterion · ↑ ↓: another one · Enter: send',
        edit: 'e: edit · Esc: leave the text · Enter or Ctrl Enter: send',
      })[kind],
    (kind: 'pairwise' | 'rubric' | 'edit') =>
      ({
        pairwise: '1 或 2：该回答更好 · 0：不分上下',
        rubric: '数字：为当前项评分 · ↑ ↓：切换评分项 · Enter：提交',
        edit: 'e：编辑 · Esc：离开文本 · Enter 或 Ctrl Enter：提交',
      })[kind],
  ],
  moreKeys: ['s: skip · u: undo · ?: all keys', 's：跳过 · u：撤销 · ?：全部快捷键'],
  instructions: ['Instructions', '说明'],
})
