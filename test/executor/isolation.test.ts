import test, { type ExecutionContext } from 'ava'
import type { Gap } from '../../executor/node/isolation.ts'
import { isolations, isRoot, ordinary, playScene, type User } from './play-scene.ts'
import { whatHolds } from './what-holds.ts'

type Outcome = {
  mode: string
  gaps: Gap[]
  uid: number
  forbidden: Record<string, string>
  allowed: Record<string, string>
}

async function played(t: ExecutionContext, setting: string, as: User): Promise<Outcome> {
  const scene = new URL('isolation-scene.ts', import.meta.url)
  const { mode, gaps, exit, stdout, stderr } = JSON.parse(
    await playScene(t, scene, { setting, as }),
  )
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

const holds = await whatHolds()

/** Whether a run under this isolation may be this user. */
function mayBe(id: number, setting: string, as: User): boolean {
  if (as === 'ordinary') return id === (isRoot ? ordinary : process.getuid?.())
  return setting === 'landlock' ? id === 0 : id >= 1_900_000_000
}

for (const { title, setting, as } of isolations(holds))
  test.serial(`${title}: nothing forbidden is accessible, and everything allowed is`, async t => {
    const { mode, gaps, forbidden, allowed, ...run } = await played(t, setting, as)
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
    t.true(mayBe(run.uid, setting, as), `it runs as ${run.uid}`)
  })

test.serial('without isolation the same program reaches nearly everything', async t => {
  const { mode, forbidden } = await played(t, 'none', isRoot ? 'root' : 'ordinary')
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
