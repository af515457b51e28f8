import type { Command } from 'commander'
import { duration } from '../amounts.ts'
import { isEnded, type JobDetail } from '../answers.ts'
import { segment } from '../api.ts'
import { type ExitCode, exitCode, usageFailure } from '../failure.ts'
import { type CommonOptions, openSignedIn, type Session, type World } from '../session.ts'
import { pause } from '../sse.ts'

type StopOptions = CommonOptions & {
  force?: boolean
  reason?: string
  grace?: string
  wait: boolean
}
type Stopped = {
  run_id: string
  state: string
  accepted: boolean
  already: boolean
  deadline: string | null
}

export function describeStop(command: Command): Command {
  return command
    .argument('<run>', 'run id or short id')
    .description('stop a job: ask it to end, and kill it after the grace period')
    .option('--force', 'kill it at once')
    .option('--reason <text>', 'kept with the run')
    .option('--grace <seconds>', 'how long it may take to end by itself')
    .option('--no-wait', 'return as soon as the request is accepted')
}

export async function stop(world: World, id: string, options: StopOptions): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const { api, terminal, isJson } = session
  const answer = await api.post<Stopped>(`/api/jobs/${segment(id)}/stop`, bodyOf(options))
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
    const { state } = await api.get<JobDetail>(`/api/jobs/${segment(runId)}`)
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
