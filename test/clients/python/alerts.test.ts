import test from 'ava'
import type { Alert } from '../../../schemas/alerts.ts'
import { startForgeProcess } from '../../servers/forge.ts'
import { patient } from '../../servers/patience.ts'
import { createRun } from '../../servers/runs.ts'
import { until } from '../../servers/until.ts'
import { emptyFolder, python, reportingTo } from './scripts.ts'

const code = `
import sys, forge, forge.run
forge.run.CLOSE_WITHIN_S = 60
forge.init(monitor_hardware=False)
forge.alert("Reward collapsed", level="error", text="from 0.6 to 0.1")
sys.stdin.readline()
for n in range(40): forge.alert("many %d" % n)
forge.log({"loss": 1.0})
`

test('alerts of a script arrive once despite a restart of the server, and excess ones block nothing', async t => {
  t.timeout(patient(200_000))
  const forge = await startForgeProcess(t)
  const run = await createRun(forge)
  const script = python(t, code, {
    ...reportingTo(forge, run),
    FORGE_SPOOL_DIR: await emptyFolder(t),
  })
  const path = `/api/runs/${run.run_id}/alerts?limit=500`
  const read = async () => (await forge.call<Alert[]>('GET', path)).body
  const [first] = await until('the first is there', 60_000, async () => {
    const found = await read()
    return found.length > 0 && found
  })
  t.like(first, { title: 'Reward collapsed', level: 'error', text: 'from 0.6 to 0.1' })
  await forge.kill()
  script.say('go on')
  await forge.start()
  t.is((await script.ended).code, 0, script.err())
  t.regex(script.err(), /has raised 30 alerts within an hour/)
  const all = await until('all can be read', 60_000, async () => {
    const found = await read()
    return found.length >= 30 && found
  })
  t.is(all.length, 30)
  t.is(new Set(all.map(({ title }) => title)).size, 30)
  const counts = await until('the point can be read', 60_000, async () => {
    const { body } = await forge.call<{ counts: { alerts: number; points: number } }>(
      'GET',
      `/api/runs/${run.run_id}`,
    )
    return body.counts.points > 0 && body.counts
  })
  t.is(counts.alerts, 30)
})
