import test from 'ava'
import { nothingScrubbed, scrubber } from '../../command-api/reflows/scrub.ts'
import { scrubKinds } from '../../schemas/reflows.ts'
import { patient } from '../servers/patience.ts'

const scrub = scrubber(scrubKinds)
const scrubbed = (text: string) => scrub(text, nothingScrubbed())

const planted = {
  email: [
    'ada@example.com',
    'ada.love-lace+x@mail.example.co.uk',
    'jürgen@müller.de',
    "o'brien@example.org",
    'ada%40example.com',
  ],
  phone: [
    '+49 30 1234567',
    '+1 (415) 555-2671',
    '(415) 555-2671',
    '415-555-2671',
    '415.555.2671',
    '0049301234567',
    '030 12345678',
    '13812345678',
  ],
  card: ['4111111111111111', '4111 1111 1111 1111', '3782-822463-10005', '5555 5555 5555 4444'],
  ip: ['192.168.1.20', '8.8.8.8', '2001:db8::ff00:42:8329', 'fe80::1'],
  key: [
    'sk-proj-abcdefghijklmnopqrst1234',
    'hf_abcdefghijklmnopqrst',
    'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
    'AKIAIOSFODNN7EXAMPLE',
    'xoxb-1234567890-abcdefghij',
    'sk_live_abcdefghijklmnop',
    'AIzaSyA1234567890abcdefghijklmnopqrstuv',
    'fdt_01KAFM5W2C6G0K4N8R2T6V0X4Z_abcdefghijklmnop',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
    '-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----',
  ],
} as const

for (const [kind, values] of Object.entries(planted))
  test(`finds each ${kind}, wherever it stands`, t => {
    for (const value of values)
      for (const [before, after] of [
        ['', ''],
        ['mine is ', ', thanks'],
        ['(', ')'],
        ['"', '"'],
        ['x: ', '\nnext'],
      ])
        t.is(scrubbed(`${before}${value}${after}`), `${before}[${kind}]${after}`, value)
  })

test('a secret is found by the name before it', t => {
  t.is(scrubbed('password: hunter2hunter2'), 'password: [key]')
  t.is(scrubbed('{"api_key": "aaaabbbbcccc"}'), '{"api_key": "[key]"}')
  t.is(scrubbed('Authorization: Bearer abcdef123456789'), 'Authorization: Bearer [key]')
  t.is(scrubbed('the bearer of good news is welcome'), 'the bearer of good news is welcome')
})

test('what only looks alike stays', t => {
  for (const text of [
    'It costs 1234 euros in 2026, at 10:30.',
    'The order 4111111111111112 is late.',
    'a@b, or an @mention',
    'Version 1.2.3 of the library',
    'Ratios of 3:2:1 and std::vector',
    '2026-11-27T10:00:00+00:00',
    'def f(a: int) -> int:',
  ])
    t.is(scrubbed(text), text)
})

test('a card is found among other digits, and each find counts', t => {
  const counts = nothingScrubbed()
  t.is(
    scrub('no 12 4111 1111 1111 1111 99 or ada@example.com, eve@example.com', counts),
    'no 12 [card] 99 or [email], [email]',
  )
  t.deepEqual(counts, { ...nothingScrubbed(), card: 1, email: 2 })
})

test('only the kinds that are asked for are scrubbed', t => {
  const text = 'ada@example.com 4111111111111111'
  t.is(scrubber(['card'])(text, nothingScrubbed()), 'ada@example.com [card]')
  t.is(scrubber([])(text, nothingScrubbed()), text)
})

test('long hostile texts are scrubbed in time', t => {
  t.timeout(patient(30_000))
  const bound = 200_000
  for (const unit of ['a.', '1 ', '-', '@', '1', ':', 'a@b.', 'token ', '+1 (', '0 1', privateKey])
    t.true(scrubbed(unit.repeat(bound / unit.length)).length > 0, unit)
})

const privateKey = '-----BEGIN PRIVATE KEY-----'
