import test from 'ava'
import { type Forge, sharedForgeProcess } from '../../servers/forge.ts'
import { patient } from '../../servers/patience.ts'
import { createRun, type ExternalRun } from '../../servers/runs.ts'
import { until } from '../../servers/until.ts'
import { emptyFolder, pointsArrive, python, reportingTo } from './scripts.ts'

type Run = { state: string; message: string | null; name: string; tags: string[] }

const theForge = sharedForgeProcess()

const read = async <T>(forge: Forge, { run_id }: Pick<ExternalRun, 'run_id'>, path = '') =>
  (await forge.call<T>('GET', `/api/runs/${run_id}${path}`)).body

const reports = `
import os, forge
run = forge.init({
    "lr": 0.1, "data": os.fsdecode(b"caf\\xe9.csv"), os.fsdecode(b"k\\xe9"): 1, "nul": "a\\0b", "fine": "\\U0001f600",
    "": 1, "__proto__": 2, "big": 10**400, "huge": 10**5000, "k" * 300: 1,
}, monitor_hardware=False, log_output=True)
forge.log_hparams({"n%d" % n: n for n in range(1990)})
print("one\\0two")
forge.log({"loss": 1.0, "": 2.0, "bad\\udce9": 3.0, "big": 10**400}, 1)
forge.log({"text": "x"}, 1)
forge.log_samples(1, [
    {"user": "a\\0b", "assistant": os.fsdecode(b"\\xe9"), "reward": 1.0, "extra": {"k\\0": "v"}},
    {"user": ["refused"]},
    {"user": "fine", "reward": 10**400},
])
print(forge.log_artifact("eval_report", os.fsdecode(b"/tmp/\\xe9.json"), "json"))
open("report.json", "w").write("{}")
print(forge.log_artifact("eval_report", "report.json", "json\\0", metrics={"acc": 0.5, "": 1, "big": 10**400}) is not None)
raise ValueError("cannot open " + os.fsdecode(b"caf\\xe9.csv"))
`

test('a text that cannot be stored, or one bad item, costs no report: it is named in a warning and counted in the last line', async t => {
  t.timeout(patient(200_000))
  const forge = await theForge()
  const run = await createRun(forge)
  const cwd = await emptyFolder(t)
  const script = python(t, `import os; os.chdir(${JSON.stringify(cwd)})\n${reports}`, {
    ...reportingTo(forge, run),
    FORGE_SPOOL_DIR: await emptyFolder(t),
  })
  t.is((await script.ended).code, 1)
  t.deepEqual(script.out(), 'one\0two\nNone\nTrue\n')
  const ended = await until('the run has failed', 20_000, async () => {
    const found = await read<Run>(forge, run)
    return found.state === 'failed' && found
  })
  t.is(ended.message, 'ValueError: cannot open caf\ufffd.csv')

  const { params } = await read<{ params: Record<string, unknown> }>(forge, run, '/hparams')
  t.like(params, {
    ...{ lr: 0.1, data: 'caf\ufffd.csv', 'k\ufffd': 1, nul: 'a\ufffdb', fine: '😀', n1989: 1989 },
    big: `1${'0'.repeat(400)}`,
    ['k'.repeat(250)]: 1,
  })
  t.deepEqual(
    ['', '__proto__', 'huge'].filter(key => Object.hasOwn(params, key)),
    [],
  )
  t.is((await pointsArrive(forge, run.run_id, 2)).length, 2)
  const lines = await until('the output is stored', 20_000, async () => {
    const found = await read<{ text: string }[]>(forge, run, '/logs?limit=500')
    return found.length >= 6 && found.map(({ text }) => text)
  })
  t.true(lines.includes('one\ufffdtwo'), lines.join('\n'))
  const samples = await until('the samples are stored', 20_000, async () => {
    const found = await read<object[]>(forge, run, '/validation/1')
    return found.length === 2 && found
  })
  t.like(samples[0], { user: 'a\ufffdb', assistant: '\ufffd' })
  const artifacts = await read<object[]>(forge, run, '/artifacts')
  t.is(artifacts.length, 1)
  t.like(artifacts[0], { format: 'json\ufffd', metrics: { acc: 0.5 } })

  const err = script.err()
  for (const words of [
    /became U\+FFFD.*hparams: params, params\.data, params\.nul/,
    /became U\+FFFD.*lifecycle: message/,
    /hparams not logged \(3\): '': not the name.*'__proto__'.*'huge'/,
    /metric keys must be 1 to 250 printable characters, not ''/,
    /values not logged \(1\): text: str is not a number/,
    /the path '\/tmp\/\\udce9\.json' is not valid text/,
    /reports to validation refused by the service \(1\): 422 .*samples\.1/,
    /forge: 4 values not logged: .*; 2 points and 1 other report not stored: .*; the rest was sent {2}http/,
  ])
    t.regex(err, words)
})

const named = `
import os, forge
run = forge.init(project="demo", name="a\\x1b[2J" + os.fsdecode(b"\\xe9") + "x" * 300, tags=["ok", "b\\n" + "y" * 80, ""], monitor_hardware=False)
`

test('a run is not refused for its name or a tag', async t => {
  const forge = await theForge()
  const env = { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token, HOME: await emptyFolder(t) }
  const script = python(t, named, env)
  t.is((await script.ended).code, 0, script.err())
  const { body } = await forge.call<Run[]>('GET', '/api/runs?tag=ok')
  t.is(body[0]?.name, `a\ufffd[2J\ufffd${'x'.repeat(250)}`)
  t.deepEqual(body[0]?.tags, ['ok', `b\ufffd${'y'.repeat(62)}`])
  t.regex(script.err(), /warning: the run is created with the name/)
})
