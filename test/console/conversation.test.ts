import test from 'ava'
import { messagesFor } from '../../clients/console/src/pages/playground/conversation.ts'

const reply = (text: string) => ({ text, ttftMs: 1, tokensPerS: null })
const prompts = ['one', 'two', 'three']
const user = (content: string) => ({ role: 'user' as const, content })
const assistant = (content: string) => ({ role: 'assistant' as const, content })

test('each prompt is sent after the earlier ones with their own replies', t => {
  const replies = new Map([
    [1, reply('1')],
    [2, reply('2')],
    [3, reply('3')],
  ])
  t.deepEqual(messagesFor(1, prompts, replies), [user('one')])
  t.deepEqual(messagesFor(3, prompts, replies), [
    ...[user('one'), assistant('1'), user('two'), assistant('2'), user('three')],
  ])
})

test('a prompt without a reply is left out, and no reply moves to another prompt', t => {
  t.deepEqual(messagesFor(3, prompts, new Map([[2, reply('2')]])), [
    ...[user('two'), assistant('2'), user('three')],
  ])
  t.deepEqual(messagesFor(3, prompts, new Map([[1, reply('')]])), [user('three')])
  t.deepEqual(messagesFor(2, prompts, new Map()), [user('two')])
})
