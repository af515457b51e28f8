import { spawn } from 'node:child_process'
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import type { Gap } from '../../executor/node/isolation.ts'
import { whatHolds } from './what-holds.ts'

type Outcome = {
  mode: string
  gaps: Gap[]
  uid: number
  forbidden: Record<string, string>
  allowed: Record<string, string>
}

const scene = fileURLToPath(new URL('isolation-scene.ts', import.meta.url))

/** `nobody`, in every distribution; PostgreSQL wants a user with a name. */
const ordinary = 65_534

/** Plays the scene as this user, or as an ordinary one where this is root. */
async function played(
  t: ExecutionContext,
  setting: string,
  { as }: { as: 'root' | 'ordinary' },
): Promise<Outcome> {
  const user = as === 'ordinary' && process.getuid?.() === 0 ? { uid: ordinary, gid: ordinary } : {}
  const folder = await mkdtemp('/tmp/forge-scene-')
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  await chmod(folder, 0o755)
  if (user.uid !== undefined) await chown(folder, user.uid, user.gid)
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', scene, setting, folder],
    {
      ...user,
      cwd: '/',
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        SERVICE_DATABASE_URL: 'postgres://forge:swordfish@db/forge',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr)])
  if (said === '') throw new Error(complained)
  const { mode, gaps, exit, stdout, stderr } = JSON.parse(said)
  t.is(exit.exit_code, 0, `${stdout}${stderr}`)
  return { mode, gaps, ...JSON.parse(stdout.trim().split('\n').at(-1)) }
}

const managed = (outcome: Record<string, string>) =>
  Object.entries(outcome).filter(([, what]) => !what.startsWith('refused'))

const failed = (outcome: Record<string, string>) =>
  Object.entries(outcome).filter(([, what]) => what !== 'True')

/** What succeeds where a promise does not hold on this machine, as the trial at the start finds. */
const attacksThrough: Record<Gap, string[]> = {
  sockets: ['an abstract socket of the server'],
  signals: ['stopping the server', 'signals to another run'],
  calls: [],
  processes: ['more processes than its limit'],
  memory: ['more memory than its limit'],
  spared: ['being spared when memory runs out'],
}

const isRoot = process.getuid?.() === 0
const holds = await whatHolds()

function keptApart(
  title: string,
  setting: string,
  as: 'root' | 'ordinary',
  uid: (id: number) => boolean,
) {
  test.serial(`${title}: nothing forbidden is accessible, and everything allowed is`, async t => {
    const { mode, gaps, forbidden, allowed, ...run } = await played(t, setting, { as })
    t.is(mode, setting)
    t.true(Object.keys(forbidden).length >= 48)
    t.log({ gaps })
    const known = gaps.flatMap(gap => attacksThrough[gap])
    t.deepEqual(
      managed(forbidden)
        .map(([what]) => what)
        .sort(),
      known.sort(),
      'what the trial says',
    )
    t.false(gaps.includes('calls'), 'filters exist on x86-64 and 64-bit ARM')
    t.deepEqual(failed(allowed), [])
    t.true(uid(run.uid), `it runs as ${run.uid}`)
  })
}

const ownUser = (id: number) => id >= 1_900_000_000
const serversUser = (id: number) => id === (isRoot ? ordinary : process.getuid?.())

if (isRoot && holds.bubblewrap === null)
  keptApart('root with bubblewrap', 'bubblewrap', 'root', ownUser)
if (isRoot) keptApart('root without bubblewrap', 'user', 'root', ownUser)
if (isRoot && holds.landlock === null)
  keptApart('root with Landlock', 'landlock', 'root', id => id === 0)
if (holds.bubblewrap === null)
  keptApart('an ordinary user with bubblewrap', 'bubblewrap', 'ordinary', serversUser)
if (holds.landlock === null)
  keptApart('an ordinary user with Landlock', 'landlock', 'ordinary', serversUser)

test.serial('without isolation the same program reaches nearly everything', async t => {
  const { mode, forbidden } = await played(t, 'none', { as: isRoot ? 'root' : 'ordinary' })
  t.is(mode, 'none')
  const got = Object.fromEntries(managed(forbidden))
  t.true(Object.keys(got).length >= 30, JSON.stringify(forbidden))
  t.regex(got['the settings of the server, from its environment'] ?? '', /swordfish/)
  t.regex(got['the token of another run, from its environment'] ?? '', /token of the victim/)
})

test('attacks that cannot be tried here are reported', t => {
  t.log(holds)
  if (isRoot) t.is(holds.user, null)
  if (process.env.FORGE_TEST_BUBBLEWRAP === 'required') t.is(holds.bubblewrap, null)
  t.true(Object.values(holds).includes(null), 'no isolation at all holds for this user')
})
