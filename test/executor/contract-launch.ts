import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { StaleSubmit, UnknownAttempt } from '../../executor/port.ts'
import { commandLinesWith, exitOf, finish, kill, launch, untilState } from './attempts.ts'
import type { Rule } from './contract-rule.ts'

/** How an attempt starts, its environment, and how its end is reported. */
export function launchRules(rule: Rule): void {
  rule('the launch environment arrives exactly', async (t, { executor }) => {
    const env = {
      SERVICE_ENABLED: '1',
      SERVICE_ENDPOINT: 'http://127.0.0.1:1/api/ingest',
      SERVICE_RUN_ID: 'run_env',
      SERVICE_TOKEN: 'fit_abc_def',
      UNICODE: '训练 ünï 🚂',
      NEWLINE: 'first\nsecond\n',
      EMPTY: '',
      EQUALS: 'a=b=c',
      LARGE: 'x'.repeat(32 * 1024),
    }
    const { output } = await finish(
      executor,
      launch({ env, command: ['cat', '/proc/self/environ'] }),
    )
    const seen = new Map(
      output.stdout
        .toString()
        .split('\0')
        .filter(Boolean)
        .map(entry => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
    )
    for (const [name, value] of Object.entries(env)) t.is(seen.get(name), value, name)
    t.truthy(seen.get('PATH'))
    t.truthy(seen.get('HOME'))
  })

  rule('no setting of the server reaches a run', async (t, { executor }) => {
    const { output } = await finish(executor, launch({ command: ['env'] }))
    t.regex(output.stdout.toString(), /^PATH=/m)
    t.notRegex(output.stdout.toString(), /^(SERVICE_|NODE_|npm_)/m)
  })

  rule('no argument of any process holds a secret', async (t, { executor }) => {
    const secret = randomUUID()
    const ref = await executor.submit(
      launch({ env: { SERVICE_TOKEN: secret }, command: ['sleep', '600'] }),
    )
    await untilState(executor, ref, 'running')
    t.true((await commandLinesWith('sleep')).length > 0)
    t.deepEqual(await commandLinesWith(secret), [])
    await kill(executor, ref)
  })

  for (const code of [0, 1, 7, 137])
    rule(`exit status ${code} is reported as it is`, async (t, { executor }) => {
      const submitted = launch({ command: ['sh', '-c', `exit ${code}`] })
      const { ref, exit } = await finish(executor, submitted)
      t.like(exit, { exit_code: code, signal: null, launch_error: null, oom_killed: false })
      const seen = await executor.observe(ref)
      t.true(
        seen.state === 'exited' && seen.started_at !== null && seen.started_at <= exit.ended_at,
      )
    })

  for (const signal of ['SIGSEGV', 'SIGKILL', 'SIGTERM'])
    rule(`death by ${signal} is reported as that signal`, async (t, { executor }) => {
      const command = ['sh', '-c', `kill -${signal.slice(3)} $$`]
      const { exit } = await finish(executor, launch({ command }))
      t.like(exit, { exit_code: null, signal, launch_error: null, oom_killed: false })
    })

  rule('a missing program is a launch error that names it', async (t, { executor }) => {
    const { ref } = await finish(executor, launch({ command: ['/no/such/program', 'x'] }))
    const launch_error = 'program not found: /no/such/program'
    t.like(await executor.observe(ref), {
      started_at: null,
      exit: { exit_code: null, signal: null, launch_error },
    })
  })

  rule('a file that may not be executed is a launch error', async (t, { executor, scratch }) => {
    const file = path.join(scratch, 'not-executable')
    await writeFile(file, 'text', { mode: 0o600 })
    const { exit } = await finish(executor, launch({ command: [file] }))
    t.is(exit.launch_error, `no permission to run ${file}`)
  })

  rule('a variable that no process can hold is a launch error', async (t, { executor }) => {
    const { exit } = await finish(executor, launch({ env: { BAD: 'a\0b' }, command: ['true'] }))
    t.regex(exit.launch_error ?? '', /null bytes/)
  })

  rule('submitting an attempt again starts nothing', async (t, { executor, reopen, scratch }) => {
    const file = path.join(scratch, 'starts')
    const again = launch({ command: ['sh', '-c', `echo started >> ${file}; sleep 0.3`] })
    const refs = await Promise.all([executor.submit(again), executor.submit(again)])
    const other = await reopen()
    refs.push(await other.submit(again))
    const [ref = ''] = refs
    await exitOf(executor, ref)
    refs.push(await other.submit(again), await executor.submit(again))
    t.deepEqual(new Set(refs), new Set([ref]))
    t.is(await readFile(file, 'utf8'), 'started\n')
  })

  rule('submits of one attempt from two servers at once start it once', async (t, bench) => {
    const other = await bench.reopen()
    for (let round = 0; round < 5; round++) {
      const file = path.join(bench.scratch, `race-${round}`)
      const same = launch({ command: ['sh', '-c', `echo started >> ${file}`] })
      const [ref] = await Promise.all([bench.executor.submit(same), other.submit(same)])
      t.like(await exitOf(bench.executor, ref), { exit_code: 0 })
      t.is(await readFile(file, 'utf8'), 'started\n')
    }
  })

  rule(
    'an attempt is found by its run and number, others are not',
    async (t, { executor, reopen }) => {
      const submitted = launch({ command: ['true'] })
      t.is(await executor.find(submitted.run_id, 1), null)
      const ref = await executor.submit(submitted)
      t.is(await (await reopen()).find(submitted.run_id, 1), ref)
      t.is(await executor.find(submitted.run_id, 2), null)
      await exitOf(executor, ref)
    },
  )

  rule('a newer attempt ends the older one before it starts', async (t, { executor }) => {
    const older = launch({ command: ['sleep', '600'] })
    const first = await executor.submit(older)
    await untilState(executor, first, 'running')
    const newer = { ...older, attempt: 2, fencing_token: 2, command: ['true'] }
    const second = await executor.submit(newer)
    t.like(await executor.observe(first), { state: 'exited', exit: { signal: 'SIGKILL' } })
    t.like(await exitOf(executor, second), { exit_code: 0 })
  })

  rule(
    'a submit with an older token than another of its run is refused',
    async (t, { executor }) => {
      const newer = launch({ attempt: 2, fencing_token: 9, command: ['sleep', '600'] })
      const ref = await executor.submit(newer)
      const stale = { ...newer, attempt: 1, fencing_token: 8 }
      await t.throwsAsync(executor.submit(stale), { instanceOf: StaleSubmit })
      const refused = await executor.find(newer.run_id, 1)
      if (refused !== null)
        t.like(await executor.observe(refused), { state: 'exited', started_at: null })
      t.is((await executor.observe(ref)).state === 'exited', false)
      await kill(executor, ref)
    },
  )

  rule(
    'an unknown reference is unknown, and cannot be stopped or read',
    async (t, { executor }) => {
      for (const ref of ['run_none/1', 'nonsense', '../../etc/1', 'run_none/0', '']) {
        t.deepEqual(await executor.observe(ref), { state: 'unknown' })
        const unknown = { instanceOf: UnknownAttempt }
        await t.throwsAsync(executor.stop(ref, { grace_s: 1, force: false }), unknown)
        await t.throwsAsync(executor.output(ref, [], 100), unknown)
        t.is(await executor.nodes(ref), null)
      }
    },
  )

  rule('a run on one node gets no rank variables', async (t, { executor }) => {
    const { output } = await finish(executor, launch({ command: ['env'] }))
    t.notRegex(output.stdout.toString(), /^(RANK|WORLD_SIZE|LOCAL_RANK|NODE_RANK|MASTER_\w+)=/m)
  })

  rule('a run begins in an empty folder of its own', async (t, { executor }) => {
    const script =
      'ls -A; echo kept > file; cat file; echo temporary > "$TMPDIR/file"; cat "$TMPDIR/file"'
    const seen = async () =>
      (await finish(executor, launch({ command: ['sh', '-c', script] }))).output.stdout.toString()
    t.is(await seen(), 'kept\ntemporary\n')
    t.is(await seen(), 'kept\ntemporary\n')
  })
}
