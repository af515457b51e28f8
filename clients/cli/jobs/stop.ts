import { type Api, segment } from '../api/client.ts'
import { isEnded, type JobDetail, type RunRecord } from '../api/records.ts'
import { describe, someRuns } from '../program/describe.ts'
import { pause } from '../program/pause.ts'
import type { CommonOptions, Flags, Session, Texts } from '../program/session.ts'
import { duration } from '../terminal/amounts.ts'
import { toJson } from '../terminal/harmless.ts'
import { actingOnRuns } from './each-run.ts'
import { requestOf, requestStop, type Stopped } from './stopping.ts'

type StopOptions = CommonOptions & Texts<'reason' | 'grace'> & Flags<'force'> & { wait: boolean }
export const describeStop = describe({
  text: 'stop jobs, killed after the grace period; or ask the code of other runs to end',
  operands: someRuns,
  options: {
    '--force': 'kill them at once; a run without a job ends even if its code keeps running',
    '--reason <text>': 'kept with the run',
    '--grace <seconds>': 'how long they may take to exit',
    '--no-wait': 'return as soon as the requests are accepted',
  },
  after: `
With several runs, each is tried; the exit code is that of the first failure.`,
})

export const stop = actingOnRuns<StopOptions>('stopped', (session, options) => {
  const body = requestOf(options)
  return id => stopOne(session, id, { options, body })
})

type Asked = { options: StopOptions; body: Record<string, unknown> }

async function stopOne(session: Session, id: string, { options, body }: Asked): Promise<void> {
  const { api, terminal, isJson } = session
  const reply = await requestStop(api, id, body)
  if (!isJson) terminal.note(requestText(id, reply, session.nowMs()))
  const state =
    options.wait && !isEnded(reply.state)
      ? await waitForEnd(session, { id, runId: reply.run_id })
      : reply.state
  terminal.data(isJson ? toJson({ ...reply, state }) : `${reply.run_id} ${state}`)
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
  const began = nowMs()
  let saidMs = began
  for (;;) {
    const { state } = await stateOfJob(api, runId)
    if (isEnded(state)) return state
    if (nowMs() - saidMs >= sayEveryMs) {
      saidMs = nowMs()
      terminal.note(
        `${id} is ${state} for ${duration((nowMs() - began) / 1000)}, waiting for its process to end`,
      )
    }
    await pause(pollMs)
  }
}

/** Jobs have more states than runs. */
const stateOfJob = async (api: Api, runId: string): Promise<{ state: string }> =>
  (await api.find<JobDetail>(`/api/jobs/${segment(runId)}`)) ??
  (await api.get<RunRecord>(`/api/runs/${segment(runId)}`))
