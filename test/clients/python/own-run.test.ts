import { mkdir, readdir, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { type Forge, startForge } from '../../servers/forge.ts'
import { patient } from '../../servers/patience.ts'
import { until } from '../../servers/until.ts'
import { emptyFolder, pointsArrive, python } from './scripts.ts'

type RunRow = { run_id: string; short_id: string; name: string | null; state: string }

const runs = async (forge: Forge): Promise<RunRow[]> =>
  (await forge.call<RunRow[]>('GET', '/api/runs')).body

const oneRunIn = (forge: Forge, state: string): Promise<RunRow> =>
  until(`one run that ${state}`, 20_000, async () => {
    const [run, ...others] = await runs(forge)
    return others.length === 0 && run?.state === state && run
  })

test.serial('a script creates a run, as the signed-in person', async t => {
  const { forge, env } = await signedIn(t)
  const code = `
import forge
run = forge.init({"lr": 0.1}, project="demo", name="mine", monitor_hardware=False)
for step in range(10): forge.log({"loss": 1.0}, step)
print(repr(run))
`
  const script = python(t, code, env)
  t.is((await script.ended).code, 0, script.err())
  const run = await oneRunIn(forge, 'succeeded')
  t.is(run.name, 'mine')
  const url = `${forge.url}/runs/${run.run_id}`
  t.is(script.out(), `<forge.Run ${run.run_id}, reporting, ${url}>\n`)
  t.is(script.err(), `forge: reporting to ${url}\nforge: all sent  ${url}\n`)
  await pointsArrive(forge, run.run_id, 10)
  t.deepEqual(await readdir(env.FORGE_SPOOL_DIR), [])

  const failing = python(t, 'import sys, forge; forge.init(project="other"); sys.exit(3)', env)
  t.is((await failing.ended).code, 3)
  const failed = () =>
    until('the failed run', 20_000, async () =>
      (await runs(forge)).find(one => one.state === 'failed'),
    )
  t.is((await failed()).short_id, 'other-1')
})

test.serial('forked workers log to the run, and only the parent reports its end', async t => {
  const { forge, env } = await signedIn(t)
  const code = `
import multiprocessing, forge
forge.init(project="demo", monitor_hardware=False)
def work(number): forge.log({"worker%d" % number: 1.0}, number)
fork = multiprocessing.get_context("fork")
with fork.Pool(3) as pool: pool.map(work, range(6))
last = fork.Process(target=work, args=(6,))
last.start(); last.join()
`
  const script = python(t, code, env)
  t.is((await script.ended).code, 0, script.err())
  t.regex(script.err(), /^forge: reporting to \S+\nforge: all sent {2}\S+\n$/)
  const { run_id } = await oneRunIn(forge, 'succeeded')
  const points = await pointsArrive(forge, run_id, 7)
  t.deepEqual(
    points.map(({ key }) => key).sort(),
    Array.from({ length: 7 }, (_, number) => `worker${number}`),
  )
  t.deepEqual(await readdir(env.FORGE_SPOOL_DIR), [])
})

test.serial('mistakes in a call are named, and do not end training', async t => {
  const { forge, env } = await signedIn(t)
  const code = `
import sys, forge
run = forge.init(project="demo", monitor_hardware=False, strict=len(sys.argv) > 1)
def tried(call):
    try: call()
    except forge.ForgeError as error: print("raised:", error)
tried(lambda: forge.log(3.0))
tried(lambda: forge.log_hparams(3.0))
tried(lambda: forge.log_artifact("checkpoint", "missing.pt", "torch"))
tried(lambda: forge.log_artifact("model", "missing.pt", "torch"))
open("model.pt", "w").close()
tried(lambda: forge.log_artifact("checkpoint", "model.pt", "torch", upload=True))
tried(lambda: forge.log_artifact("checkpoint", "model.pt", "torch", metrics=3.0))
tried(lambda: forge.log_artifact("checkpoint", "model.pt", "torch", 1))
forge.log({"loss": 1.0})
`
  const cwd = await emptyFolder(t)
  const named = [
    /needs names and numbers, as in \{"loss": 0.3\}, not 3.0 \(float\)/,
    /needs names and values, as in \{"lr": 0.1\}, not 3.0 \(float\)/,
    /artifact not registered: no such file: .*missing.pt/,
    /artifact not registered: kind must be one of checkpoint, .*, merged_model, not 'model'/,
    /artifact not registered: cannot upload \/.*model.pt: it is empty/,
    /artifact not registered: needs names and numbers/,
  ]
  const script = python(t, `import os; os.chdir(${JSON.stringify(cwd)})\n${code}`, env)
  t.is((await script.ended).code, 0, script.err())
  t.is(script.out(), '')
  for (const words of named) t.regex(script.err(), words)
  const run = await oneRunIn(forge, 'succeeded')
  await pointsArrive(forge, run.run_id, 1)
  const { body: artifacts } = await forge.call('GET', `/api/runs/${run.run_id}/artifacts`)
  t.like(artifacts, [{ path: join(await realpath(cwd), 'model.pt'), step: 1 }])

  const strict = python(
    t,
    ['-c', `import os; os.chdir(${JSON.stringify(cwd)})\n${code}`, 'strict'],
    env,
  )
  t.is((await strict.ended).code, 0, strict.err())
  const raised = strict.out().trimEnd().split('\n')
  t.is(raised.length, named.length)
  for (const [index, words] of named.entries()) t.regex(raised[index] ?? '', words)
})

test.serial('when signed out, init names both remedies', async t => {
  const home = await emptyFolder(t)
  const script = python(t, 'import forge; forge.init(project="demo")', { HOME: home })
  t.is((await script.ended).code, 1)
  t.regex(script.err(), /ConfigError: You are not signed in\. .*forge login.*SERVICE_ENABLED=0/)
  const off = python(t, 'import forge; print(forge.init(project="demo"))', {
    HOME: home,
    SERVICE_ENABLED: '0',
  })
  t.is((await off.ended).code, 0, off.err())
  t.is(off.out(), '<forge.Run, not reporting>\n')
})

test.serial('a run that began while the server was down is created when it is back', async t => {
  const { forge, env } = await signedIn(t)
  await forge.stop()
  const code = `
import sys, forge
run = forge.init({"lr": 0.1}, project="demo", monitor_hardware=False)
for step in range(1500): forge.log({"loss": float(step)}, step)
print(repr(run), flush=True)
sys.stdin.readline()
for step in range(1500, 2000): forge.log({"loss": float(step)}, step)
print(forge.flush(60), repr(run), flush=True)
`
  const script = python(t, code, env)
  await until('the first part', 30_000, () => script.out().includes('\n'))
  t.regex(script.out(), /^<forge.Run local_\d+_\w+, reporting, not created yet>/)
  t.regex(script.err(), /^forge: nothing can be sent to http:.* now .*; reports are kept in /m)
  await forge.start()
  script.say('')
  t.is((await script.ended).code, 0, script.err())
  const run = await oneRunIn(forge, 'succeeded')
  t.regex(script.out(), new RegExp(`True <forge.Run ${run.run_id}, reporting, http`))
  t.regex(script.err(), /^forge: all sent {2}http/m)
  const points = await pointsArrive(forge, run.run_id, 2000)
  t.is(points.length, 2000)
  t.deepEqual(await readdir(env.FORGE_SPOOL_DIR), [])
})

test.serial('a run that ended before the server was back is created by sync, once', async t => {
  const { forge, env } = await signedIn(t)
  await forge.stop()
  const code = `
import forge
forge.init({"lr": 0.1}, project="demo", monitor_hardware=False)
for step in range(300): forge.log({"loss": float(step)}, step)
forge.finish(timeout=2)
`
  const script = python(t, code, env)
  t.is((await script.ended).code, 0, script.err())
  t.regex(
    script.err(),
    /^forge: 300 points and 3 other reports kept in .*; send with .*forge sync/m,
  )
  const early = python(t, ['-m', 'forge', 'sync'], env)
  t.is((await early.ended).code, 6, early.out())
  t.regex(early.out(), /^forge: 300 points and 3 other reports kept in /m)
  await forge.start()
  const sync = python(t, ['-m', 'forge', 'sync'], env)
  t.is((await sync.ended).code, 0, sync.out())
  const run = await oneRunIn(forge, 'succeeded')
  await pointsArrive(forge, run.run_id, 300)
  t.deepEqual(await readdir(env.FORGE_SPOOL_DIR), [])
})

/** A server, and the home of somebody who signed in there with `forge login`. */
async function signedIn(t: ExecutionContext) {
  t.timeout(patient(400_000))
  const forge = await startForge(t)
  const home = await emptyFolder(t)
  const context = { host: forge.url, username: 'admin', token: forge.token }
  await mkdir(join(home, '.config/forge'), { recursive: true })
  const contexts = { current: 'here', contexts: { here: context } }
  await writeFile(join(home, '.config/forge/contexts.json'), JSON.stringify(contexts))
  return { forge, env: { HOME: home, FORGE_SPOOL_DIR: await emptyFolder(t) } }
}
