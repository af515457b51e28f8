import test from 'ava'
import type { ReflowDetail } from '../../schemas/reflows.ts'
import { startForgeProcess } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { createReflow, fire, rowsOf, secrets, startTalks, untilCaptured } from './talks.ts'

const kills = 3
/** At least, before each of them. */
const requests = 60

test('each request is taken once, although the server is killed while it captures and fires', async t => {
  t.timeout(patient(300_000), 'a lease has to end')
  const forge = await startForgeProcess(t)
  const talks = await startTalks(t, forge, 'killed')
  const source = { type: 'traffic', deployment_id: talks.deployment_id }
  const reflow_id = await createReflow(forge, {
    ...{ source, target_dataset: 'admin/killed', dedupe: 'none' },
  })
  const answered: string[] = []
  let nth = 0
  const ask = async () => {
    const text = `question ${nth++} of ${secrets.email} with ${secrets.key}.`
    const got = await talks.talk(text, { stream: nth % 2 === 0 }).catch(() => '')
    if (got.includes('question') || got.includes('[DONE]')) answered.push(text)
    return got !== ''
  }
  const started = performance.now()
  for (let killed = 0; killed <= kills; killed++) {
    const wanted = answered.length + requests
    const workers = Array.from({ length: 10 }, async () => {
      for (let alive = true; alive; ) alive = (await ask()) && answered.length < wanted + requests
    })
    await until('more were answered', 60_000, () => answered.length >= wanted)
    // Some rows are on disk, some in the database, and a firing is under way.
    if (killed < kills) {
      await forge.call('POST', `/api/reflows/${reflow_id}/run`, { body: { window: `${killed}` } })
      await forge.kill()
    }
    await Promise.all(workers)
    if (killed < kills) await forge.start()
  }
  const rate = (1000 * answered.length) / (performance.now() - started)
  await untilCaptured(forge, reflow_id, answered.length)
  // The first call may find a firing of before.
  await fire(forge, reflow_id)
  await fire(forge, reflow_id)
  const { body } = await forge.call<ReflowDetail>('GET', `/api/reflows/${reflow_id}`)
  const refs = new Set(body.fired.flatMap(({ ref }) => ref ?? []))
  const rows = (await Promise.all([...refs].map(ref => rowsOf(forge, ref)))).flat()
  const taken = rows.map(({ messages }) => /question (\d+)/.exec(messages[0]?.content ?? '')?.[1])
  const wanted = answered.map(text => /question (\d+)/.exec(text)?.[1])
  t.deepEqual(taken.sort(), wanted.sort())
  t.is(new Set(rows.map(({ reflow }) => reflow.source)).size, rows.length)
  const text = JSON.stringify(rows)
  for (const secret of [secrets.email, secrets.key]) t.false(text.includes(secret))
  t.log(`${answered.length} requests in ${refs.size} versions, ${Math.round(rate)}/s`)
})
