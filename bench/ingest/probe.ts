import { setTimeout as pause } from 'node:timers/promises'
import { askApi } from '../../test/servers/api.ts'
import { until } from '../../test/servers/until.ts'
import type { ExternalRun } from '../rig/api.ts'
import { type Spread, spreadOf } from '../rig/quantile.ts'

export type Probe = {
  /** Discards the measurements so far. */
  reset(): void
  /** Waits for pending points; returns the milliseconds from acknowledgement to the frame on the stream. */
  visible(): Promise<Spread>
  stop(): Promise<void>
}

const everyMs = 50
const settleWithinMs = 60_000

/**
 * An extra run with a point every 50 ms and an open stream: measures when acknowledged points reach a reader while
 * others load the server.
 */
export async function startProbe(url: string, token: string, run: ExternalRun): Promise<Probe> {
  const stopping = new AbortController()
  const acknowledgedAt = new Map<number, number>()
  const seenAt = new Map<number, number>()
  let lastStep = 0
  let countFrom = 1

  const send = async () => {
    while (!stopping.signal.aborted) {
      const step = ++lastStep
      const points = [{ key: 'probe', step, value: step, ts: new Date().toISOString() }]
      await askApi(url, 'POST', '/api/ingest/metrics', {
        token: run.token,
        body: { run_id: run.run_id, points },
      })
      acknowledgedAt.set(step, performance.now())
      await pause(everyMs)
    }
  }
  const watch = async () => {
    for await (const step of stepsOf(url, token, run.run_id, stopping.signal))
      seenAt.set(step, performance.now())
  }
  const work = Promise.all([send(), watch()])
  // A failure is reported by the next `visible` or `stop`.
  work.catch(() => {})

  return {
    reset() {
      countFrom = lastStep + 1
    },
    async visible() {
      const last = lastStep
      const isSeen = () => seenAt.has(last) && acknowledgedAt.has(last)
      await Promise.race([
        work,
        until('the last probe was seen on the stream', settleWithinMs, isSeen, 5),
      ])
      const waits: number[] = []
      for (let step = countFrom; step <= last; step++) {
        const [acknowledged, seen] = [acknowledgedAt.get(step), seenAt.get(step)]
        if (acknowledged !== undefined && seen !== undefined)
          waits.push(Math.max(0, seen - acknowledged))
      }
      return spreadOf(waits)
    },
    async stop() {
      stopping.abort()
      await work.catch(error => {
        if (!stopping.signal.aborted) throw error
      })
    },
  }
}

/** The steps of a run's points from its stream (server-sent events). */
async function* stepsOf(
  url: string,
  token: string,
  runId: string,
  signal: AbortSignal,
): AsyncIterableIterator<number> {
  const response = await fetch(`${url}/api/runs/${runId}/metrics/stream`, {
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
    signal,
  })
  if (!response.ok || !response.body) throw new Error(`the stream returned ${response.status}`)
  let text = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk
    const frames = text.split('\n\n')
    text = frames.pop() ?? ''
    for (const frame of frames) yield* stepsIn(frame)
  }
}

function stepsIn(frame: string): number[] {
  const data = /^data: (.*)$/m.exec(frame)?.[1]
  if (!/^event: points$/m.test(frame) || data === undefined) return []
  const { points } = JSON.parse(data) as { points: { step: number }[] }
  return points.map(({ step }) => step)
}
