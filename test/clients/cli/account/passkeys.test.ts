import test from 'ava'
import { registered } from '../../../passkeys/registered.ts'
import { adminPassword } from '../../../servers/api.ts'
import { commandLine } from '../../../servers/command-line.ts'
import { startForge } from '../../../servers/forge.ts'

test('a person lists their passkeys, and removes one by its id', async t => {
  const forge = await startForge(t)
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const list = ['account', 'passkeys', 'list']
  const none = await run(list)
  t.is(none.code, 0)
  t.is(none.stdout, '')
  t.regex(none.stderr, /No passkeys; register one at http\S+\/settings/)

  const laptop = (await registered(forge)).reply.body.passkey_id
  const phone = (await registered(forge, forge.token, 'Phone λ')).reply.body.passkey_id
  const shown = await run(list)
  t.regex(shown.stdout, /^PASSKEY +NAME +REGISTERED +LAST USED *\n/)
  t.regex(shown.stdout, new RegExp(`\n${phone} +Phone λ +\\S+ +-`.replace(/^\n/, '')))
  const known = async () => JSON.parse((await run([...list, '--json'])).stdout)
  t.like(await known(), [
    { passkey_id: phone, name: 'Phone λ' },
    { passkey_id: laptop, name: 'Laptop' },
  ])
  const status = await run(['account', 'totp', 'status'])
  t.regex(status.stdout, /No authenticator; passkeys: 2; recovery codes left: 10/)

  const remove = (id: string) => run(['account', 'passkeys', 'remove', id])
  t.is((await remove('pk_nonsense')).code, 3)
  const removed = await remove(phone)
  t.is(removed.code, 0, removed.stderr)
  t.like(await known(), [{ passkey_id: laptop }])
  await forge.pool.query(`update auth.session set authenticated_at = now() - interval '1 hour'`)
  const old = await remove(laptop)
  t.is(old.code, 4)
  t.regex(old.stderr, /hint: forge confirm/)
})

test('by password, a person with a passkey alone learns to sign in through a browser, or gives a recovery code', async t => {
  const forge = await startForge(t)
  const { run } = await commandLine(t, {})
  const { reply } = await registered(forge)
  const login = ['login', '--host', forge.url, '-u', 'admin', '--password-stdin']
  const alone = await run(login, { stdin: adminPassword })
  t.is(alone.code, 4)
  t.regex(alone.stderr, /A second factor is needed as well: your passkey or a recovery code/)
  t.regex(alone.stderr, /hint: on the command line, forge login and approve it in a browser/)
  const [code = ''] = reply.body.recovery_codes
  const entered = await run(login, { stdin: `${adminPassword}\n${code}\n` })
  t.is(entered.code, 0, entered.stderr)
  const confirm = await run(['confirm', '--password-stdin'], { stdin: adminPassword })
  t.is(confirm.code, 4)
  t.regex(confirm.stderr, /hint: on the command line, forge login/)
})
