import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { isCommon, list } from '../../auth/known-passwords.ts'
import { createPasswords, refuseBadPassword } from '../../auth/passwords.ts'
import { Refusal } from '../../platform/refusal.ts'

const bad: Record<string, string[]> = {
  'that is too short': ['x y z 1 2 3', 'ü'.repeat(5)],
  'that is too long': ['x y '.repeat(257), `${'ü'.repeat(512)}y`],
  'of the username and no other letter': ['alice-alice-1', 'ALICE20261121', '**alice***alice**'],
  'that many people use': ['123456789012', 'passwordpassword', 'PasswordPassword', 'qwertyuiopas'],
  'that many people use, with something after it': [
    'Password123!',
    'iloveyouforever1',
    'dragon-2026!',
  ],
}
for (const [why, passwords] of Object.entries(bad))
  test(`a new password ${why} is refused and not repeated`, async t => {
    for (const password of passwords) {
      const error = await t.throwsAsync(refuseBadPassword(password, 'alice'), {
        instanceOf: Refusal,
      })
      t.is(error.code, 'invalid', password)
      t.false(error.message.includes(password))
    }
  })

test('other passwords of 12 to 1024 bytes in UTF-8 are accepted', async t => {
  const good = [
    'correct horse battery',
    'alice in chains 7',
    'dragon-49817263548',
    'xüx1üx',
    'üöäßéñ',
    'z y '.repeat(256),
    '\n\nc(r)azy\n\n\n',
    '4815-1623-42',
  ]
  for (const password of good.map(text => text.padEnd(12, '🐎')))
    await t.notThrowsAsync(refuseBadPassword(password, 'alice'), password)
})

test('no password that many people use contains a space, so none with a space is looked up', async t => {
  t.false((await readFile(fileURLToPath(list), 'latin1')).includes(' '))
  t.false(await isCommon('pass word'))
  t.true(await isCommon('password'))
})

test('a password is compared whole, in its case, and in one form of its characters', async t => {
  const passwords = await createPasswords()
  const chosen = `Correct Horse ${'é'.repeat(100)} Battery`
  const stored = await passwords.hash(chosen)
  t.regex(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  t.true(await passwords.matches(chosen, stored))
  t.true(await passwords.matches(chosen.normalize('NFD'), stored), 'another keyboard')
  for (const other of [chosen.toLowerCase(), chosen.slice(0, 72), ` ${chosen}`, `${chosen} `])
    t.false(await passwords.matches(other, stored), other)
})
