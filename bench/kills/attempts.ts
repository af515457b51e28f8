import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Exit } from '../../events/jobs.ts'
import type { Executor, Launch } from '../../executor/port.ts'
import type { Random } from '../../test/whole/chaos/random.ts'

/** An attempt, and how it must end. */
export type Planned = { launch: Launch; end: Pick<Exit, 'exit_code' | 'signal'> }

/** The ways in which a process may end. */
export const ends: Planned['end'][] = [
  { exit_code: 0, signal: null },
  { exit_code: 1, signal: null },
  { exit_code: 7, signal: null },
  { exit_code: 137, signal: null },
  { exit_code: null, signal: 'SIGSEGV' },
]

/** Each rank notes its start; with two, the second ends as planned while the first keeps running, unless both must succeed. */
export function plan(index: number, scratch: string, random: Random): Planned {
  const end = random.pick(ends)
  const nodes = random.whole(1, 2)
  const how = end.signal ? `kill -${end.signal.slice(3)} $$` : `exit ${end.exit_code}`
  const other = end.exit_code === 0 ? 'exit 0' : 'sleep 600'
  const script = `echo \${RANK:-0} >> ${join(scratch, String(index))}; sleep 0.${random.whole(1, 9)}
    if [ $((\${RANK:-0} + 1)) = ${nodes} ]; then ${how}; else ${other}; fi`
  const launch = {
    run_id: `run_${index}`,
    attempt: 1,
    fencing_token: 1,
    nodes,
    gpu_indexes: nodes === 2 ? [0, 1] : [],
    command: ['sh', '-c', script],
    preparation: null,
    env: {},
    reads: [],
    serves: false,
  }
  return { launch, end }
}

export type Verdict = { lost: number; twice: number; wrong: number }

/** All attempts must have ended. */
export async function judge(
  executor: Executor,
  planned: readonly Planned[],
  scratch: string,
): Promise<Verdict> {
  const verdict = { lost: 0, twice: 0, wrong: 0 }
  for (const [index, { launch, end }] of planned.entries()) {
    const ref = await executor.find(launch.run_id, 1)
    const observed = ref === null ? null : await executor.observe(ref)
    const starts = await readFile(join(scratch, String(index)), 'utf8').catch(() => '')
    const ranks = starts.split('\n').filter(Boolean)
    if (observed?.state !== 'exited' || ranks.length === 0) verdict.lost++
    else if (observed.exit.exit_code !== end.exit_code || observed.exit.signal !== end.signal)
      verdict.wrong++
    if (new Set(ranks).size !== ranks.length) verdict.twice++
  }
  return verdict
}
