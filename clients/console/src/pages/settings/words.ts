import { wordsOf } from '../../words/words.ts'

export const words = wordsOf({
  title: ['Settings', '设置'],
  admin: ['Admin', '管理员'],
  member: ['Member', '成员'],
  look: ['Appearance', '外观'],
  language: ['Language', '语言'],
  theme: ['Theme', '主题'],
  system: ['Follow the system', '跟随系统'],
  light: ['Light', '浅色'],
  dark: ['Dark', '深色'],
  password: ['Password', '密码'],
  sessions: ['Sessions', '会话'],
  endAll: ['Sign out everywhere', '全部退出'],
  via: ['Sign-in method', '登录方式'],
  this: ['this one', '当前'],
  agent: ['Program', '程序'],
  began: ['Began', '开始'],
  used: ['Used', '使用'],
  end: ['End', '结束'],
})
