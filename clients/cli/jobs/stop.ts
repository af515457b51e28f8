import type { Command } from 'commander'
import { type Api, segment } from '../api/client.ts'
import { isEnded, type JobDetail, type RunRecord } from '../api/records.ts'
import { pause } from '../api/streams.ts'
import type { ExitCode } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type Session, type World } from '../program/session.ts'
import { duration } from '../terminal/amounts.ts'
import { toJson } from '../terminal/harmless.ts'
import { eachRun } from './each-run.ts'
import { requestOf, requestStop, type Stopped } from './stopping.ts'

type StopOptions = CommonOptions & {
  force?: boolean
  reason?: string
  grace?: string
  wait: boolean
}
export function describeStop(command: Command): Command {
  return command
    .argument('<runs...>', 'run ids or short ids')
    .description('stop jobs, killed after the grace period; or ask the code of other runs to end')
    .option('--force', 'kill them at once; a run without a job ends even if its code goes on')
    .option('--reason <text>', 'kept with the run')
    .option('--grace <seconds>', 'how long they may take to end by themselves')
    .option('--no-wait', 'return as soon as the requests are accepted')
    .addHelpText(
      'after',
      `
With several runs, each is tried, and the exit code is that of the first that could not be stopped.`,
    )
}

export async function stop(
  world: World,
  ids: readonly string[],
  options: StopOptions,
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const body = requestOf(options)
  return eachRun(ids, 'stopped', id => stopOne(session, id, { options, body }))
}

type Asked = { options: StopOptions; body: Record<string, unknown> }

async function stopOne(session: Session, id: string, { options, body }: Asked): Promise<void> {
  const { api, terminal, isJson } = session
  const answer = await requestStop(api, id, body)
  if (!isJson) terminal.note(requestText(id, answer, session.nowMs()))
  const state =
    options.wait && !isEnded(answer.state)
      ? await waitForEnd(session, { id, runId: answer.run_id })
      : answer.state
  terminal.data(isJson ? toJson({ ...answer, state }) : `${answer.run_id} ${state}`)
}

function requestText(id: string, { state, already, deadline }: Stopped, nowMs: number): string {
  const left = deadline === null ? null : (Date.parse(deadline) - nowMs) / 1000
  const killed = left !== null && left > 0 ? `after ${duration(left)} if need be` : 'at once'
  const limit = left === null || isEnded(state) ? '' : `; killed ${killed}`
  return `${id} is ${already ? 'already ' : ''}${state}${limit}`
}

const pollMs = 300
const sayEveryMs = 2000

async function waitForEnd(
  { api, terminal, nowMs }: Session,
  { id, runId }: { id: string; runId: string },
): Promise<string> {
  const never = new AbortController().signal
  const began = nowMs()
  let saidMs = began
  for (;;) {
    const { state } = await stateOf(api, runId)
    if (isEnded(state)) return state
    if (nowMs() - saidMs >= sayEveryMs) {
      saidMs = nowMs()
      terminal.note(
        `${id} is ${state} for ${duration((nowMs() - began) / 1000)}, waiting for its process to end`,
      )
    }
    await pause(pollMs, never)
  }
}

/** Jobs have more states than runs. */
const stateOf = async (api: Api, runId: string): Promise<{ state: string }> =>
  (await api.find<JobDetail>(`/api/jobs/${segment(runId)}`)) ??
  (await api.get<RunRecord>(`/api/runs/${segment(runId)}`))
