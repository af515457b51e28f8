import { randomUUID } from 'node:crypto'
import type { Exit } from '../../events/jobs.ts'
import type { Executor, Launch, Observed } from '../../executor/port.ts'
import { processes } from '../servers/processes.ts'
import { until } from '../servers/until.ts'
import { outputOf } from './output.ts'

export function launch(part: Partial<Launch>): Launch {
  return {
    run_id: `run_${randomUUID()}`,
    attempt: 1,
    fencing_token: part.attempt ?? 1,
    nodes: 1,
    command: ['true'],
    preparation: null,
    env: {},
    gpu_indexes: [],
    reads: [],
    serves: false,
    ...part,
  }
}

export async function untilState(
  executor: Executor,
  ref: string,
  state: Observed['state'],
): Promise<void> {
  await until(
    `${ref} is ${state}`,
    50_000,
    async () => (await executor.observe(ref)).state === state,
  )
}

export async function exitOf(executor: Executor, ref: string): Promise<Exit> {
  return until(`${ref} has exited`, 50_000, async () => {
    const observed = await executor.observe(ref)
    return observed.state === 'exited' ? observed.exit : null
  })
}

/** The command lines of living processes that contain `text`; zombies have no command line. */
export async function commandLinesWith(text: string): Promise<string[]> {
  const lines = (await processes()).map(({ commandLine }) => commandLine)
  return lines.filter(line => line.includes(text))
}

/** Submits an attempt and waits for its end. */
export async function finish(
  executor: Executor,
  submitted: Launch,
): Promise<{ ref: string; exit: Exit; output: { stdout: Buffer; stderr: Buffer } }> {
  const ref = await executor.submit(submitted)
  const exit = await exitOf(executor, ref)
  return { ref, exit, output: await outputOf(executor, ref) }
}

export async function kill(executor: Executor, ref: string): Promise<void> {
  await executor.stop(ref, { grace_s: 0, force: true })
  await exitOf(executor, ref)
}
