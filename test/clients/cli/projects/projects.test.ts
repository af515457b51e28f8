import test from 'ava'
import { commandLine } from '../../../servers/command-line.ts'
import { startForge } from '../../../servers/forge.ts'
import { signedIn } from '../../../servers/signed-in.ts'

test('projects are listed, shown and opened, and members come and go, from the command line', async t => {
  const forge = await startForge(t)
  const [alice, bob] = [await signedIn(forge, 'alice'), await signedIn(forge, 'bob')]
  await forge.call('POST', '/api/runs', { token: alice, body: { project: 'sums' } })
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: alice })
  const projects = (...args: string[]) => run(['projects', ...args])
  const json = async (...args: string[]) => {
    const { code, stdout, stderr } = await projects(...args, '--json')
    t.is(code, 0, stderr)
    return JSON.parse(stdout)
  }
  const asBob = (...args: string[]) => run(['projects', ...args], { env: { FORGE_TOKEN: bob } })

  t.regex((await projects('list')).stdout, /^PROJECT .*\nsums +private +alice +owner +1\n$/)
  t.is((await asBob('list')).stdout, '')
  t.is((await asBob('show', 'sums')).code, 3)

  const added = await projects('members', 'add', 'sums', 'bob')
  t.is(added.code, 0, added.stderr)
  t.regex(added.stderr, /^bob is now a member of sums\n$/)
  t.like(await json('members', 'add', 'sums', 'bob', '-r', 'viewer'), {
    project: 'sums',
    username: 'bob',
    role: 'viewer',
    changed: true,
  })
  t.like(await json('set', 'sums', '--notes', 'adds up'), { notes: 'adds up', changed: true })
  const shown = await json('show', 'sums')
  t.like(shown, {
    name: 'sums',
    my_role: 'owner',
    members: [{ role: 'owner' }, { role: 'viewer' }],
  })
  t.regex(
    (await projects('show', 'sums')).stdout,
    /^sums: private, 1 run, since .*\nadds up\n\nUSER /,
  )
  t.is((await asBob('set', 'sums', '--visibility', 'internal')).code, 4)

  t.like(await json('members', 'remove', 'sums', 'bob'), { username: 'bob', removed: true })
  t.is((await projects('members', 'remove', 'sums', 'bob')).code, 3)
  t.is((await projects('members', 'remove', 'sums', 'alice')).code, 5)
  t.like(await json('set', 'sums', '--visibility', 'internal'), { visibility: 'internal' })
  t.is((await projects('set', 'sums')).code, 2)
  t.is((await projects('set', 'sums', '--visibility', 'public')).code, 2)
  t.is((await projects('members', 'add', 'sums', 'nobody')).code, 3)
})
