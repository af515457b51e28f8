import type { Command } from 'commander'
import { duration } from '../amounts.ts'
import { isEnded, type JobDetail, type RunRecord } from '../answers.ts'
import { type Api, segment } from '../api.ts'
import { type ExitCode, exitCode, Failure, usageFailure } from '../failure.ts'
import { toJson } from '../harmless.ts'
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
  const body = bodyOf(options)
  const ended = await Promise.allSettled(ids.map(id => stopOne(session, id, { options, body })))
  const failures = ended.flatMap(each => (each.status === 'rejected' ? [each.reason] : []))
  const [first] = failures
  if (first === undefined) return exitCode.ok
  if (!(first instanceof Failure) || ids.length === 1) throw first
  throw new Failure(first.exitCode, `${failures.length} of ${ids.length} were not stopped`, {
    lines: ended.flatMap((each, at) =>
      each.status === 'rejected' ? [`${ids[at]}: ${reasonOf(each.reason)}`] : [],
    ),
    fields: first.fields,
  })
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

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
