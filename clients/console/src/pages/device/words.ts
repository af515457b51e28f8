import { wordsOf } from '../../words/words.ts'

export const words = wordsOf({
  title: ['Approve a program', '批准程序'],
  enter: ['Which program?', '哪个程序？'],
  enterHelp: ['The program that asks to sign in shows it.', '请求登录的程序会显示该代码。'],
  code: ['Code it shows', '显示的代码'],
  unknown: [
    (code: string) => `No program is waiting with the code ${code}.`,
    (code: string) => `没有程序在使用代码 ${code} 等待。`,
  ],
  goOn: ['Continue', '继续'],
  asks: ['A program asks to sign in as you', '有程序请求以您的身份登录'],
  compare: [
    'Approve only if you started it yourself and it shows this code:',
    '仅当是您自己启动并且显示以下代码时才批准：',
  ],
  grants: [
    'It may then do everything that you may, for up to 30 days. You can end that in the settings, under Sessions.',
    '批准后，它可以在最多 30 天内执行您有权执行的所有操作。您可以在设置的“会话”中终止。',
  ],
  from: ['From the address', '来自地址'],
  agent: ['Program', '程序'],
  silent: ['not given', '未说明'],
  at: ['Requested at', '请求时间'],
  valid: ['Valid for', '有效期'],
  as: ['Signs in as', '登录身份'],
  approve: ['Approve', '批准'],
  deny: ['Deny', '拒绝'],
  other: ['Not you?', '不是您？'],
  approved: ['Approved', '已批准'],
  approvedText: [
    'The program is signed in within a few seconds. You can close this page.',
    '程序将在几秒内登录。可以关闭此页面。',
  ],
  denied: ['Denied', '已拒绝'],
  deniedText: [
    'The program was not signed in. You can close this page.',
    '程序未登录。可以关闭此页面。',
  ],
  consumed: ['Already used', '已使用'],
  consumedText: [
    'A program has signed in with this code; it cannot be used again.',
    '已有程序用此代码登录，不能再次使用。',
  ],
  expired: ['Expired', '已过期'],
  expiredText: [
    'This code is no longer valid. Start the sign-in again for a new one.',
    '代码已失效。请重新开始登录以获取新代码。',
  ],
})
