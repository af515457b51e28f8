import { wordsOf } from '../words/words.ts'

/** What adds panels; the words of panels themselves are loaded with the first one. */
export const menuWords = wordsOf({
  add: ['Add panel', '添加面板'],
  pin: ['Pin', '固定'],
  full: ['The address has no room for another panel', '地址中已无法再容纳面板'],
  importance: ['Importance of hyperparameters', '超参数重要性'],
})
