import type { Command } from 'commander'
import { duration } from '../amounts.ts'
import { isEnded, type JobDetail, type RunRecord } from '../answers.ts'
import { type Api, segment } from '../api.ts'
import { type ExitCode, exitCode, usageFailure } from '../failure.ts'
import { type CommonOptions, openSignedIn, type Session, type World } from '../session.ts'
import { pause } from '../sse.ts'
import { requestStop, type Stopped } from '../stopping.ts'

type StopOptions = CommonOptions & {
  force?: boolean
  reason?: string
  grace?: string
  wait: boolean
}
export function describeStop(command: Command): Command {
  return command
    .argument('<run>', 'run id or short id')
    .description('stop a job, killed after the grace period; or ask the code of another run to end')
    .option('--force', 'kill it at once; a run without a job ends even if its code goes on')
    .option('--reason <text>', 'kept with the run')
    .option('--grace <seconds>', 'how long it may take to end by itself')
    .option('--no-wait', 'return as soon as the request is accepted')
}

export async function stop(world: World, id: string, options: StopOptions): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const { api, terminal, isJson } = session
  const answer = await requestStop(api, id, bodyOf(options))
  if (!isJson) terminal.note(requestText(id, answer, session.nowMs()))
  const state =
    options.wait && !isEnded(answer.state) ? await waitForEnd(session, answer.run_id) : answer.state
  terminal.data(isJson ? JSON.stringify({ ...answer, state }) : `${answer.run_id} ${state}`)
  return exitCode.ok
}

function bodyOf({ force, reason, grace }: StopOptions): Record<string, unknown> {
  if (grace !== undefined && !/^\d+$/.test(grace))
    throw usageFailure(`--grace ${grace}: give whole seconds`)
  return {
    ...(force && { force }),
    ...(reason !== undefined && { reason }),
    ...(grace !== undefined && { grace_s: Number(grace) }),
  }
}

function requestText(id: string, { state, already, deadline }: Stopped, nowMs: number): string {
  const left = deadline === null ? null : (Date.parse(deadline) - nowMs) / 1000
  const limit = left === null || isEnded(state) ? '' : `; killed after ${duration(left)} if need be`
  return `${id} is ${already ? 'already ' : ''}${state}${limit}`
}

const pollMs = 300
const sayEveryMs = 2000

async function waitForEnd({ api, terminal, nowMs }: Session, runId: string): Promise<string> {
  const never = new AbortController().signal
  const began = nowMs()
  let saidMs = began
  for (;;) {
    const { state } = await stateOf(api, runId)
    if (isEnded(state)) return state
    if (nowMs() - saidMs >= sayEveryMs) {
      saidMs = nowMs()
      terminal.note(
        `${state} for ${duration((nowMs() - began) / 1000)}, waiting for the process to end`,
      )
    }
    await pause(pollMs, never)
  }
}

/** Jobs have more states than runs. */
const stateOf = async (api: Api, runId: string): Promise<{ state: string }> =>
  (await api.find<JobDetail>(`/api/jobs/${segment(runId)}`)) ??
  (await api.get<RunRecord>(`/api/runs/${segment(runId)}`))
