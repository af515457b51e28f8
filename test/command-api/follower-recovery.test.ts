import test from 'ava'
import { decisionFollower } from '../../command-api/effects/follower.ts'
import { nothing } from '../../command-api/effects/outcome.ts'
import { startFollower } from '../../command-api/followers/run.ts'
import { topicsOf } from '../../events/topics.ts'
import { createMemoryLog } from '../../platform/log/memory.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { linkTo } from '../servers/link.ts'
import { database } from '../servers/postgres.ts'
import { until } from '../servers/until.ts'
import { silent, storeWith } from './duty-store.ts'

const topics = topicsOf('test')

test('a follower that has the database back says so without a new record', async t => {
  const { url } = await database(t)
  const link = await linkTo(t, url)
  const pool = createPool(link.url, { max: 4, applicationName: 'linked' })
  t.teardown(() => pool.end())
  const following = startFollower(
    decisionFollower<null>({
      name: 'idle',
      begins: 'start',
      onPoison: 'park',
      follow: async () => nothing,
    }),
    {
      ...{ pool, store: storeWith(pool, []), log: createMemoryLog(Object.values(topics)), topics },
      ...{ work: null, now: () => new Date(), logger: silent },
    },
  )
  t.teardown(() => following.stop())
  t.is(following.status().halted, null)
  link.cut()
  await until('the follower is halted', 20_000, async () => following.status().halted !== null)
  link.mend()
  await until('the follower goes on', 20_000, async () => following.status().halted === null)
})
