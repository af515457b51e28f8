import test from 'ava'
import { messagesIn, textOf } from '../../clients/console/src/design/messages.ts'

test('a conversation is recognised by the roles of all of its messages', t => {
  const calls = [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{}' } }]
  t.deepEqual(
    messagesIn([
      { role: 'user', content: '1 + 1?' },
      { role: 'assistant', content: null, tool_calls: calls },
    ]),
    [
      { role: 'user', content: '1 + 1?', rest: null },
      { role: 'assistant', content: null, rest: { tool_calls: calls } },
    ],
  )
  for (const other of [[], ['user'], [{ role: 1 }], [{ role: 'user' }, null], { role: 'user' }])
    t.is(messagesIn(other), null, JSON.stringify(other))
})

test('the text of a message joins its parts, and shows other parts as JSON', t => {
  t.is(textOf('plain'), 'plain')
  t.is(textOf(null), '')
  const image = { type: 'image_url', image_url: { url: 'a.png' } }
  t.is(textOf([{ type: 'text', text: 'See' }, image]), `See\n${JSON.stringify(image, null, 2)}`)
  t.is(textOf({ a: 1 }), '{\n  "a": 1\n}')
})
