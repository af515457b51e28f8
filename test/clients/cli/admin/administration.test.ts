import test, { type ExecutionContext } from 'ava'
import { commandLine, type Ended } from '../../../servers/command-line.ts'
import { startForge } from '../../../servers/forge.ts'

async function asAdmin(t: ExecutionContext) {
  const forge = await startForge(t)
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const admin = (...args: string[]) => run(['admin', ...args])
  const json = async (...args: string[]) => {
    const { code, stdout, stderr } = await admin(...args, '--json')
    t.is(code, 0, stderr)
    return JSON.parse(stdout)
  }
  return { forge, run, admin, json }
}

const signIn =
  (host: string, run: (args: string[], o: { stdin: string }) => Promise<Ended>) =>
  (username: string, password: string) =>
    run(['login', '--host', host, '-u', username, '--password-stdin'], { stdin: `${password}\n` })

test('users are added, listed, changed, disabled and enabled from the command line', async t => {
  const { forge, run, admin, json } = await asAdmin(t)
  const login = signIn(forge.url, run)
  const added = await admin('users', 'add', 'alice', '--display-name', 'Alice', '--email', 'a@b.c')
  t.is(added.code, 0, added.stderr)
  t.regex(added.stderr, /Created alice \(operator\)/)
  t.regex(added.stdout, /^[\w-]{24}\n$/)
  t.is((await login('alice', added.stdout.trim())).code, 0)
  const listed = await admin('users', 'list')
  t.regex(
    listed.stdout,
    /^USER .*\nadmin +admin +enabled .*\nalice +operator +enabled +password .*Alice/,
  )

  const addBob = ['admin', 'users', 'add', 'bob', '--admin', '--password-stdin', '--json']
  t.is((await run(addBob, { stdin: 'short\n' })).code, 3)
  const bob = await run(addBob, { stdin: 'correct horse stapler\n' })
  t.like(JSON.parse(bob.stdout), { username: 'bob', role: 'admin', password: null })
  t.is((await admin('users', 'add', 'bob')).code, 5)

  t.like(await json('users', 'set', 'alice', '--role', 'admin', '--email', ''), {
    role: 'admin',
    email: null,
    display_name: 'Alice',
  })
  const reset = await json('users', 'set', 'alice', '--reset-password')
  t.is((await login('alice', reset.password)).code, 0)
  t.like(await json('users', 'disable', 'alice'), { disabled: true })
  t.is((await login('alice', reset.password)).code, 4)
  t.like(await json('users', 'enable', 'alice'), { disabled: false })
  t.is((await admin('users', 'set', 'alice')).code, 2)
  t.is((await admin('users', 'disable', 'nobody')).code, 3)
})

test('a quota is changed in parts and shown', async t => {
  const { admin, json } = await asAdmin(t)
  t.like(await json('quota', 'get', 'admin'), { max_concurrent_gpus: 8, default: true })
  const set = ['quota', 'set', 'admin', '--gpus', '16', '--profiles', 'a,b', '--series', 'H100=4']
  t.like(await json(...set), { max_concurrent_gpus: 16, max_concurrent_jobs: 4 })
  t.deepEqual(await json('quota', 'set', 'admin', '--jobs', '9', '--series', 'A100=2', 'H100='), {
    max_concurrent_gpus: 16,
    max_concurrent_jobs: 9,
    daily_gpu_hours: 0,
    max_storage_gb: 0,
    allowed_profiles: ['a', 'b'],
    priority: 0,
    per_series: { A100: { max_concurrent_gpus: 2 } },
    default: false,
  })
  const shown = await admin('quota', 'get', 'admin')
  t.regex(shown.stdout, /GPUs at once +16\n/)
  t.regex(shown.stdout, /GPUs of A100 +2\n/)
  t.is((await admin('quota', 'set', 'admin')).code, 2)
  t.is((await admin('quota', 'set', 'admin', '--gpus', 'many')).code, 2)
  t.is((await admin('quota', 'set', 'admin', '--gpus', '-1')).code, 2)
  t.is((await admin('quota', 'get', 'nobody')).code, 3)
})

test('the queue is paused, an engine drained, and everybody sees why', async t => {
  const { run, admin, json } = await asAdmin(t)
  t.like(await json('queue', 'pause', '-m', 'New disks'), { paused: true, reason: 'New disks' })
  t.regex((await admin('queue', 'status')).stdout, /^paused since .*, by admin: New disks\n/)
  const { stderr } = await run(['queue'])
  t.regex(stderr, /The queue is paused: New disks/)
  t.regex(stderr, /No job waits/)
  t.like(JSON.parse((await run(['queue', '--json'])).stdout), { waiting: { jobs: 0 }, jobs: [] })
  t.is((await run(['queue', 'explain', 'no-such-run', '--json'])).code, 3)
  t.like(await json('queue', 'resume'), { paused: false })
  t.is((await admin('drain', 'nowhere')).code, 3)
})

test('maintenance is switched on with a message and off again; other commands show the message', async t => {
  const { run, admin, json } = await asAdmin(t)
  t.is((await admin('maintenance', 'status')).stdout, 'serving\n')
  t.like(await json('maintenance', 'on', '-m', 'New disks'), {
    enabled: true,
    message: 'New disks',
  })
  const refused = await run(['ps'])
  t.is(refused.code, 6)
  t.regex(refused.stderr, /New disks/)
  const status = await admin('maintenance', 'status')
  t.regex(status.stdout, /^in maintenance since .*, by admin: New disks\n$/)
  t.like(await json('maintenance', 'off'), { enabled: false })
  t.is((await run(['ps'])).code, 0)
})
