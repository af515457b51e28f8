import { segment } from '../api/client.ts'
import { isEnded, type JobDetail } from '../api/records.ts'
import { describe, someRuns } from '../program/describe.ts'
import { exitCode, Failure } from '../program/failure.ts'
import type { CommonOptions, Session, Texts } from '../program/session.ts'
import { duration } from '../terminal/amounts.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Checkpoint, checkpointText, continuesText } from './checkpoints.ts'
import { actingOnRuns } from './each-run.ts'
import { type HowToEnd, requestOf } from './stopping.ts'
import { watchJob } from './watch-job.ts'

type PauseOptions = CommonOptions & HowToEnd & { wait: boolean }
type ResumeOptions = CommonOptions & Texts<'reason'> & { wait: boolean }

type Reply = {
  run_id: string
  state: string
  already: boolean
  deadline: string | null
  checkpoint: Checkpoint | null
  warnings: { code: string; detail: string }[]
}

export const describePause = describe({
  text: 'make jobs write a checkpoint and end, to free their GPUs until they are resumed',
  operands: someRuns,
  options: {
    '--force': 'kill them at once; progress since the last checkpoint is lost',
    '--reason <text>': 'kept with the run',
    '--grace <seconds>': 'how long they may take to write a checkpoint and end',
    '--no-wait': 'return as soon as the requests are accepted',
  },
})

export const pause = actingOnRuns<PauseOptions>('paused', (session, options) => {
  const body = requestOf(options)
  return id => pauseOne(session, id, body, options.wait)
})

async function pauseOne(session: Session, id: string, body: object, wait: boolean): Promise<void> {
  const { terminal, isJson } = session
  const reply = await ask(session, id, 'pause', body)
  const { deadline } = reply
  const killed = deadline === null ? '' : `, killed after ${left(deadline, session)} if need be`
  if (!isJson) {
    terminal.note(`${id} is ${reply.already ? 'already ' : ''}${reply.state}${killed}`)
    if (reply.checkpoint)
      terminal.note(`  newest checkpoint so far: ${checkpointText(reply.checkpoint)}`)
    warn(session, reply)
  }
  if (!wait || reply.state !== 'pausing') return report(session, reply, {})
  const { state, checkpoint, conditions } = await untilPaused(session, id, reply)
  if (!isJson && state === 'paused') {
    terminal.note(`  when it is resumed, ${continuesText(checkpoint)}`)
    if (conditions.includes('no_checkpoint')) {
      const detail = 'the attempt left no checkpoint'
      warn(session, { warnings: [{ code: 'no_checkpoint', detail }] })
    }
  }
  report(session, reply, { state, checkpoint, conditions })
}

async function untilPaused(session: Session, id: string, { run_id, deadline }: Reply) {
  const job = await watchJob(session, {
    run_id,
    isThere: ({ state }) => state !== 'pausing',
    text: ({ state, checkpoint }) =>
      [
        `${id} is ${state}`,
        ...(deadline === null ? [] : [`killed after ${left(deadline, session)}`]),
        checkpoint ? `checkpoint of ${checkpointText(checkpoint)}` : 'no checkpoint yet',
      ].join(', '),
  })
  // It may have finished instead.
  if (job.state === 'paused' || job.state === 'succeeded') return job
  throw new Failure(exitCode.conflict, `${id} was not paused: it is ${job.state}`, {
    fields: { run_id, state: job.state },
  })
}

const left = (deadline: string, { nowMs }: Session) =>
  duration((Date.parse(deadline) - nowMs()) / 1000)

export const describeResume = describe({
  text: 'queue paused jobs again; each continues from its newest checkpoint',
  operands: someRuns,
  options: {
    '--reason <text>': 'kept with the run',
    '--no-wait': 'return as soon as they are queued',
  },
})

export const resume = actingOnRuns<ResumeOptions>('resumed', (session, { reason, wait }) => {
  const body = requestOf({ ...(reason !== undefined && { reason }) })
  return id => resumeOne(session, id, body, wait)
})

const waiting = ['queued', 'scheduled']

async function resumeOne(session: Session, id: string, body: object, wait: boolean): Promise<void> {
  const { terminal, isJson } = session
  const reply = await ask(session, id, 'resume', body)
  if (!isJson) terminal.note(`${id} is ${reply.state}; ${continuesText(reply.checkpoint)}`)
  if (!wait) return report(session, reply, {})
  const job = await watchJob(session, {
    run_id: reply.run_id,
    // A read may still show the previous state of the job.
    isThere: ({ state }) => !waiting.includes(state) && state !== 'paused',
    text: ({ state, state_reason, queue }) =>
      `${id} is ${state}${state_reason ? ` (${state_reason})` : ''}${queue?.position ? `, place ${queue.position}` : ''}`,
  })
  if (isEnded(job.state) && job.state !== 'succeeded')
    throw new Failure(exitCode.jobFailed, `${id} is ${job.state}`, {
      fields: { run_id: job.run_id, state: job.state },
    })
  const { state, attempt } = job
  report(session, reply, { state, attempt, resume_from: resumeFromOf(job) })
}

const resumeFromOf = ({ attempt, attempts }: JobDetail): string | null =>
  attempts.find(each => each.attempt === attempt)?.resume_from ?? null

const ask = ({ api }: Session, id: string, verb: 'pause' | 'resume', body: object) =>
  api.post<Reply>(`/api/jobs/${segment(id)}/${verb}`, body)

function warn({ terminal }: Session, { warnings }: Pick<Reply, 'warnings'>): void {
  for (const { detail } of warnings)
    terminal.note(`  ${terminal.paintNote('yellow', '!')} ${detail}`)
}

/** The result: the reply, updated with the job's state since. */
function report({ terminal, isJson }: Session, reply: Reply, since: Record<string, unknown>): void {
  const result = { ...reply, ...since }
  terminal.data(isJson ? toJson(result) : `${result.run_id} ${result.state}`)
}
