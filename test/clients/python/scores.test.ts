import test from 'ava'
import { startForgeProcess } from '../../servers/forge.ts'
import { patient } from '../../servers/patience.ts'
import { createRun } from '../../servers/runs.ts'
import { until } from '../../servers/until.ts'
import { emptyFolder, python, reportingTo } from './scripts.ts'

const code = `
import json, sys, forge
forge.init(monitor_hardware=False)
asked = []
def judge(samples):
    asked.append(samples)
    return [(len(str(one)) / 10, {"clear": 0.5}) for one in samples]
for line in sys.stdin:
    asked.clear()
    scores = forge.cached_scores("admin/helpful@1", "a@1", json.loads(line), judge)
    print(json.dumps([scores, asked]), flush=True)
`

test('a script judges each sample once for each version of a rubric, and continues without a server', async t => {
  t.timeout(patient(120_000))
  const forge = await startForgeProcess(t)
  const run = await createRun(forge)
  const write = (description: string) =>
    forge.call('PUT', '/api/rubrics/admin/helpful', {
      body: { name: 'helpful', criteria: [{ name: 'clear' }], scale_max: 5, description },
    })
  await write('first')
  const script = python(t, code, {
    ...reportingTo(forge, run),
    FORGE_SPOOL_DIR: await emptyFolder(t),
  })
  let lines = 0
  const judged = async (...samples: unknown[]) => {
    script.say(JSON.stringify(samples))
    lines++
    return until('it has judged', 30_000, async () => {
      const printed = script.out().split('\n')
      return printed.length > lines && JSON.parse(printed[lines - 1] ?? '')
    })
  }
  const pair = { b: 1, a: 'ü' }
  t.deepEqual(await judged('one', 'three', 'one'), [[0.3, 0.5, 0.3], [['one', 'three']]])
  t.deepEqual(await judged('three', pair), [[0.5, 1.8], [[pair]]])
  t.deepEqual(await judged({ a: 'ü', b: 1 }, 'one'), [[1.8, 0.3], []])
  const many = Array.from({ length: 1100 }, (_, n) => `${n}`)
  const [scores, asked] = await judged(...many)
  t.is(scores.length, 1100)
  t.deepEqual(asked, [many])
  t.deepEqual((await judged(...many))[1], [])

  t.like((await write('second')).body, { version: 2, retired_scores: 1103 })
  t.deepEqual(await judged('one'), [[0.3], [['one']]])
  t.deepEqual(await judged('one'), [[0.3], []])

  await forge.kill()
  t.deepEqual(await judged('one'), [[0.3], [['one']]])
  t.regex(script.err(), /scores of admin\/helpful are judged again and not kept/)
})
