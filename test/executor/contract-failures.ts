import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { ExecutionContext } from 'ava'
import type { Exit } from '../../events/jobs.ts'
import type { Launch } from '../../executor/port.ts'
import { commandLinesWith, exitOf, launch, untilState } from './attempts.ts'
import type { Bench, Rule } from './contract-rule.ts'
import { untilPrinted } from './output.ts'

const shell = (script: string) => ['sh', '-c', script]

/** Rules that hold whatever is killed or unreachable. */
export function failureRules(rule: Rule): void {
  const states = ['starting', 'running', 'stopping'] as const
  for (const state of states)
    rule(
      `an agent that is killed while a run is ${state} starts nothing twice`,
      async (t, bench) => {
        await killedAgent(t, bench, state, 1)
      },
    )

  rule('an agent that is killed while two nodes run leaves none of them', async (t, bench) => {
    await killedAgent(t, bench, 'running', 2)
  })

  rule('a submit whose outcome was lost is found, and started once', async (t, bench) => {
    const { reopen, scratch, submitUnheard } = bench
    const file = path.join(scratch, 'starts')
    for (const nodes of [1, 2]) {
      const submitted = launch({
        nodes,
        gpu_indexes: nodes === 2 ? [0, 1] : [],
        command: shell(`echo \${RANK:-0} >> ${file}-${nodes}; exit 8`),
      })
      await submitUnheard(submitted)
      const executor = await reopen()
      const found = await executor.find(submitted.run_id, 1)
      const ref = await executor.submit(submitted)
      if (found !== null) t.is(found, ref)
      t.like(await exitOf(executor, ref), { exit_code: 8, launch_error: null })
      const starts = (await readFile(`${file}-${nodes}`, 'utf8')).trimEnd().split('\n')
      t.is(new Set(starts).size, starts.length, `started ${starts}`)
    }
  })

  rule('an unreachable executor reports nothing about its attempts', async (t, bench) => {
    const { executor, scratch, takeAway, reopen } = bench
    const go = path.join(scratch, 'go')
    const submitted = launch({
      command: shell(`echo up; until [ -e ${go} ]; do sleep 0.05; done; exit 5`),
    })
    const ref = await executor.submit(submitted)
    await untilPrinted(executor, ref, 'up\n')
    const bringBack = await takeAway()
    await t.throwsAsync(executor.observe(ref))
    await t.throwsAsync(executor.find(submitted.run_id, 1))
    await t.throwsAsync(executor.stop(ref, { grace_s: 0, force: true }))
    await t.throwsAsync(executor.submit(launch({ command: ['true'] })))
    await bringBack()
    await untilState(executor, ref, 'running')
    t.is(await (await reopen()).find(submitted.run_id, 1), ref)
    await writeFile(go, '')
    t.like(await exitOf(executor, ref), { exit_code: 5 })
  })
}

/** Whatever becomes of the attempt, it is one attempt: started once at most, ended once, and nothing of it left. */
async function killedAgent(
  t: ExecutionContext,
  { executor, reopen, scratch, killAgent }: Bench,
  state: 'starting' | 'running' | 'stopping',
  nodes: number,
): Promise<void> {
  const id = randomUUID()
  const [file, go] = ['starts', 'go'].map(name => path.join(scratch, name)) as [string, string]
  const submitted: Launch = launch({
    nodes,
    gpu_indexes: nodes === 2 ? [0, 1] : [],
    command: shell(
      `trap '' TERM; echo \${RANK:-0} >> ${file}; echo up; until [ -e ${go} ]; do sleep 0.05; done; exit 6; : ${id}`,
    ),
  })
  const ref = await executor.submit(submitted)
  if (state !== 'starting')
    for (let rank = 0; rank < nodes; rank++) await untilPrinted(executor, ref, 'up\n', rank)
  if (state === 'stopping') await executor.stop(ref, { grace_s: 600, force: false })
  await killAgent(ref)
  await writeFile(go, '')
  const other = await reopen()
  const exit = await exitOf(other, ref)
  t.true(exit.exit_code === 6 || isLost(exit), JSON.stringify(exit))
  t.is(await other.submit(submitted), ref)
  t.deepEqual(await exitOf(executor, ref), exit)
  t.deepEqual(await commandLinesWith(id), [])
  const starts = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter(Boolean)
  t.is(new Set(starts).size, starts.length, `started ${starts}`)
}

/** Nobody saw it end. */
const isLost = ({ exit_code, signal, launch_error }: Exit) =>
  exit_code === null && signal === null && launch_error !== null
