import { segment } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { request } from '../program/request.ts'
import type { CommonOptions, Texts } from '../program/session.ts'
import { because } from '../queue/queue.ts'

type Engine = {
  engine: string
  draining: boolean
  reason: string | null
  since: string | null
  by: string | null
  running_jobs: number
}
type Switches = {
  paused: boolean
  reason: string | null
  changed_at: string | null
  changed_by: string | null
  engines: Engine[]
}
type ReasonOptions = CommonOptions & Texts<'message'>

const messageOption = { '-m, --message <text>': 'why, for everybody' }

export const describeQueuePause = describe({
  text: 'start no job; running ones continue',
  options: messageOption,
})

export const queuePause = request<Switches, ReasonOptions>({
  send: ({ api }, { message: reason = null }) =>
    api.put<Switches>('/api/admin/queue', { paused: true, reason }),
  data: switchLines,
})

export const describeQueueResume = describe({ text: 'start jobs again' })

export const queueResume = request<Switches>({
  send: ({ api }) => api.put<Switches>('/api/admin/queue', { paused: false }),
  data: switchLines,
})

export const describeQueueStatus = describe({
  text: 'whether the queue is paused, and which engines are being drained',
})

export const queueStatus = request<Switches>({
  send: ({ api }) => api.get<Switches>('/api/admin/queue'),
  data: switchLines,
})

function switchLines({ paused, reason, changed_at, changed_by, engines }: Switches): string[] {
  const by = changed_at === null ? '' : ` since ${changed_at}, by ${changed_by}`
  return [paused ? `paused${by}${because(reason)}` : `open${by}`, ...engines.map(engineText)]
}

function engineText({ engine, draining, reason, since, by, running_jobs }: Engine): string {
  return draining
    ? `${engine}: draining since ${since}, by ${by}${because(reason)}; ${running_jobs} jobs still run`
    : `${engine}: open, ${running_jobs} jobs run`
}

export const describeDrain = describe({
  text: 'start no job on an engine; running ones continue',
  operands: { '<engine>': 'an executor by its name, or a machine by its id' },
  options: messageOption,
})

export const drain = request<Engine, ReasonOptions>({
  send: ({ api }, { message: reason = null }, engine) =>
    api.put<Engine>(engineAt(engine), { draining: true, reason }),
  data: engineText,
})

export const describeUndrain = describe({
  text: 'start jobs on an engine again',
  operands: { '<engine>': '' },
})

export const undrain = request<Engine>({
  send: ({ api }, _, engine) => api.put<Engine>(engineAt(engine), { draining: false }),
  data: engineText,
})

const engineAt = (engine: string) => `/api/admin/engines/${segment(engine)}`
